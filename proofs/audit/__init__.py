"""Would a check notice if the claim were wrong? Small changes to a claim, and what becomes of each."""

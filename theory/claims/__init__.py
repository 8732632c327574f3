"""The claims: one file a paper, and ``own`` for what this project found."""

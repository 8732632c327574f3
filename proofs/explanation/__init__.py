"""More than a verdict: what would settle a claim, what is true in its place, and a program that replays its witness."""

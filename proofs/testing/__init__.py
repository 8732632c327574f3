"""For tests of one's own: strategies for Hypothesis."""

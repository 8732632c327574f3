"""What the numbers say, independently of every closed form in ``theory``."""

from numerics.gram import MeanField, mean_field
from numerics.monte_carlo import Expectation, expected_scores

__all__ = ["Expectation", "MeanField", "expected_scores", "mean_field"]

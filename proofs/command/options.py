"""What several commands say of an option, without importing what it is about: help has to be quick."""

from __future__ import annotations

MASK = "causal, bidirectional, window:W, prefix:L, dilated:W:S or blocks:S."

"""The engines: each looks at a claim in its own way and says what it found."""

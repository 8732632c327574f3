"""Work in other processes, under limits, whatever it does."""

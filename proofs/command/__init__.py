"""The command ``maskproof``, one file a command."""

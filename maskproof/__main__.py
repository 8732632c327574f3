"""The command ``maskproof``, and ``python -m maskproof``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        # Inside the try: Ctrl-C while modules load is no reason for a traceback either.
        from maskproof.proofs import cli
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()

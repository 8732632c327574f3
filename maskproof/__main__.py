"""The command ``maskproof``, and ``python -m maskproof``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while modules load ends it without a word
    from maskproof.proofs.command import cli  # after that

    cli.main()


if __name__ == "__main__":
    main()

"""The command ``maskproof``, and ``python -m maskproof``."""

from __future__ import annotations

import gc
import os
import signal


def main() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)  # while modules load; an exception would pass through theirs
    gc.set_threshold(50_000)  # modules and formulas stay: looking for garbage among them takes a tenth of the start
    from maskproof.proofs.command import cli  # after that

    cli.main()


def _interrupted(*_: object) -> None:
    os.write(2, b"maskproof: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()

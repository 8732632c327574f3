"""The command ``maskproof``, and ``python -m maskproof``."""

from __future__ import annotations

import os
import signal
from typing import Never


def main() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)  # while modules load; an exception would pass through theirs
    from maskproof.proofs.command import cli  # after that

    cli.main()


def _interrupted(*_: object) -> Never:
    os.write(2, b"maskproof: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()

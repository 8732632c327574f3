"""``python -m maskproof.proofs.site [OUT] [--evidence FILE]``: build the site."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from maskproof.proofs.site.build import build
from maskproof.theory.errors import InvalidInput


def main() -> int:
    """Build the site as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m maskproof.proofs.site", description="Build the site; it needs no network."
    )
    parser.add_argument("out", nargs="?", type=Path, default=Path("build/site"), help="folder (default: %(default)s)")
    parser.add_argument("--evidence", type=Path, metavar="FILE", help="what maskproof verify --json FILE wrote")
    chosen = parser.parse_args()
    try:
        status = build(chosen.out, chosen.evidence)
    except InvalidInput as error:
        print(f"maskproof: {error}", file=sys.stderr)
        return 2
    if status == 0:
        print(chosen.out / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())

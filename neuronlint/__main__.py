"""`python -m neuronlint` and the command itself."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line. A lone `--version` is answered at once: tools ask for it at every turn."""
    if sys.argv[1:] == ["--version"]:
        from neuronlint import __version__

        sys.stdout.write(f"neuronlint {__version__}\n")
        return 0
    from neuronlint.cli.app import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())

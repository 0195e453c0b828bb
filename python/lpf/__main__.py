"""The command ``lpf``."""

from __future__ import annotations

import signal
import sys

from ._lpf import command


def main() -> int:
    """Runs the command with the arguments of the process."""
    # The command has its own way to end; Python's would wait until it returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["lpf", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""``python -m pyropunct`` is the command ``pyropunct``."""

import os
import sys

from pyropunct.errors import BAD_INPUT, INTERRUPTED


def main() -> None:
    """Run the command; an interruption while its modules are imported ends it in one line too."""
    try:
        os.getcwd()  # without it some libraries end the process
    except FileNotFoundError:
        print("pyropunct: the working folder has been deleted: change to another one", file=sys.stderr)
        sys.exit(BAD_INPUT)
    if sys.flags.optimize > 1:
        print(
            "pyropunct: Pyro needs the docstrings that python -OO leaves out: use python -O", file=sys.stderr
        )
        sys.exit(BAD_INPUT)
    try:
        from pyropunct.cli.main import main as command
    except KeyboardInterrupt:
        print("pyropunct: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    command(prog_name="pyropunct")


if __name__ == "__main__":
    main()

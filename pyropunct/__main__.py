"""``python -m pyropunct`` is the command ``pyropunct``."""

import sys

from pyropunct.errors import INTERRUPTED


def main() -> None:
    """Run the command; an interruption while its modules are imported ends it in one line too."""
    try:
        from pyropunct.cli.main import main as command
    except KeyboardInterrupt:
        print("pyropunct: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    command(prog_name="pyropunct")


if __name__ == "__main__":
    main()

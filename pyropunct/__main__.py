"""``python -m pyropunct`` is the command ``pyropunct``."""

from pyropunct.cli.main import main

if __name__ == "__main__":
    main(prog_name="pyropunct")

"""What mkdocs does beside what it always does."""

from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parent.parent

_scratch = TemporaryDirectory()


@event_priority(100)  # before mkdocstrings looks at its settings
def on_config(config: Any) -> Any:
    """Show mkdocstrings the package as it is installed, with models/ and inference/ in their places."""
    package = Path(_scratch.name) / "pyropunct"
    for source, place in (("pyropunct", "."), ("models", "models"), ("inference", "inference")):
        copytree(ROOT / source, package / place, ignore=ignore_patterns("__pycache__"), dirs_exist_ok=True)
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_scratch.name]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """A double colon before a block is reStructuredText; docstrings are shown as Markdown."""
    return html.replace("::</p>", ":</p>")

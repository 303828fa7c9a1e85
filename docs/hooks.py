"""Changes to the pages of the site while mkdocs builds it."""

import re
from typing import Any

NOTEBOOK = re.compile(r'href="([\w-]+)\.ipynb"')
PICTURE = re.compile(r'src="\.\./docs/(figures/[\w-]+\.svg)"')
PAGE = re.compile(r'href="\.\./docs/([\w/-]+)\.md(#[\w-]+)?"')


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The HTML of a page; what notebooks link to and show, right in the source tree, is found in the site."""
    if page.file.src_uri.endswith(".ipynb"):
        html = NOTEBOOK.sub(r'href="../\1/"', html)
        html = PICTURE.sub(r'src="../../\1"', html)
        html = PAGE.sub(lambda link: f'href="../../{link[1]}/{link[2] or ""}"', html)
    # A double colon before a block is reStructuredText; docstrings are shown as Markdown.
    return html.replace("::</p>", ":</p>")

"""A real browser without a window, for the tests of pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

OPTIONS = (
    "--no-sandbox",  # which root has none of
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium or Chrome with an empty profile; without, tests skip, or fail if
    PYROPUNCT_TEST_BROWSER=required.
    """
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = f"there is no browser: none of {', '.join(NAMES)} is in PATH"
        if os.environ.get("PYROPUNCT_TEST_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield chromium
        chromium.close()


class Watched:
    """A page, and what a good one does not do: say anything on the console, or request an address."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))

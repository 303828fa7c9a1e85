"""A page of HTML that shows all trees of a file with their underlying punctuation, and searches them."""

from pyropunct.figures.page.fates import Fate, token_fates
from pyropunct.figures.page.writing import page_html

__all__ = ["Fate", "page_html", "token_fates"]

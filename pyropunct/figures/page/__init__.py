"""A page of HTML that shows all trees of a file with their underlying punctuation, and searches them."""

from pyropunct.figures.page.writing import Fate, page_html, token_fates

__all__ = ["Fate", "page_html", "token_fates"]

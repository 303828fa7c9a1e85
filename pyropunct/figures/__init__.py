"""Drawings of trees, plots and pages.

Sentences with their underlying trees, and the results of `pyropunct.tasks.explain`, come in; SVG, HTML or
text goes out.  Of the package, only the command line calls this room; documentation and tutorials do too.
"""

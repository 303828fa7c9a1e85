"""Experiments: systems, the data that they are trained and measured on, metrics, significance, and a table.

- `pyropunct.compare.experiment`: an experiment trains each part once, in a folder where it can go on.
- `pyropunct.compare.settings`: the settings that every experiment has.
- `pyropunct.compare.significance`: paired permutation tests.
- `pyropunct.compare.table`: a table of typed columns, as text, Markdown, LaTeX, tsv, csv or JSON.
"""

"""Experiments after papers: systems to compare with, their training, their data and their results."""

"""Drawings of trees, plots and pages."""

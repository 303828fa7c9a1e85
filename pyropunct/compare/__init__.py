"""Experiments: systems, the data that they are trained and measured on, metrics, significance and tables."""

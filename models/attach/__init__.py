"""Attach models: which punctemes a constituent sprouts (Li, Wang & Eisner 2019, section 2.1).

Batches of trees and views of their constituents come in; unnormalised scores of all puncteme pairs go out,
(..., C), and the sites of their weights.  A story calls them; rooms above `pyropunct.models` make, fit, save
and prune them.
"""

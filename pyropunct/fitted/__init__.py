"""Fitted stories: p(x | T) with learned weights, their training settings, and model files."""

"""What a model has learned, and what it finds in a sentence."""

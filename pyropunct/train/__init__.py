"""Training: stories by SVI, weights for parser output, the tagger's share, checkpoints."""

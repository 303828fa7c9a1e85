"""Training: stories by SVI, weights for parsed trees, the share of the tagger, checkpoints."""

"""What the networks that read words have in common: words as numbers, layers, and how they are trained."""

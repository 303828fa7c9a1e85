"""Training a model: recipes, fits, optimisers, and the folder in which a model is kept."""

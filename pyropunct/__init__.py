"""Latent punctuation in syntax trees, as a Pyro model with exact inference."""

"""Inference as Pyro has it: distributions of pairs and surface strings, effect handlers, an ELBO, guides."""

"""The generative story of punctuation (Li, Wang & Eisner 2019, section 2) as Pyro models."""

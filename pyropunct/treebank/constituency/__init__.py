"""Phrase-structure treebanks, read as dependency trees."""

"""Older systems to compare with, one paper a room, and their comparisons."""

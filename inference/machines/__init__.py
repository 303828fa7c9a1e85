"""Channels as machines: what they read and write, move by move, and automata of what they may have read."""

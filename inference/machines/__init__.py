"""Channels as machines: what they read and write, move by move, and automata of what they may have read.

Moves, (..., P) weights and evidence about slots come in; automata over underlying strings, draws of surface
strings and the best moves go out.  The rest of `pyropunct.inference`, channels, and all rooms above may call
this room.

- `evidence`: what is known of the surface string of a slot;
- `products`: products of a channel's weights, and the four edits;
- `moves`: the language in which channels are written;
- `automata`: weighted automata over underlying strings;
- `composition`: a machine and evidence, as an automaton of what the machine may have read;
- `transducers`: a channel's machines, ready to be used;
- `sampling`: draws of surface strings;
- `paths`: the best moves in a slot, and all its surface strings.
"""

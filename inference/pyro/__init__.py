"""Inference as Pyro has it: distributions of pairs and surface strings, effect handlers, guides.

`pyropunct.inference.story_inputs.StoryInputs` and a surface come in; distributions of sites, posteriors, and
handlers that sum out or decode T' go out.  Stories in `pyropunct.models`, fits, and a user's own Pyro models
call this room.

- `private`: every contact with undocumented parts of Pyro and torch;
- `posterior`: p(T' | T, x) and p(x | T) once x is known;
- `story_state`: the state of one run of a story;
- `sites`: the sites of a story, as distributions;
- `collapse`: handlers that sum out the punctemes of trees;
- `decode`: handlers that decode or draw punctemes;
- `one_by_one`: a site for each constituent, to compare with Pyro's enumeration;
- `svi`: scales of mini-batches and guides.
"""

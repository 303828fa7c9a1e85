"""The generative story of punctuation (Li, Wang & Eisner 2019, section 2) as Pyro models.

`story` joins an attach model, a channel and a syntax model; `economy`, `extensions` and `symmetry` add to it.
Batches of trees (`trees`) and of surface strings come in, as integers; Pyro sites, draws and the inputs of
inference (`pyropunct.inference.story_inputs.StoryInputs`) go out.  All rooms above may call this one, from
`pyropunct.vocabulary`, which encodes trees, to the command line; `pyropunct.inference` may not.
"""

"""Work on corpora that are larger than memory and longer than a night: in shards, on many machines.

`pyropunct.corpus.inputs` finds the files, `pyropunct.corpus.shards` cuts them into shards and makes one of
them, `pyropunct.corpus.manifest` keeps shards of different corpora, models and settings apart, and
`pyropunct.corpus.cluster` lets Dask make them.  What is done with a text is a `pyropunct.corpus.shards.Work`,
of which this room knows nothing else.
"""

"""Work on corpora larger than memory, in shards, on many machines; restarting resumes.

The modules find input files, cut and process shards, record what results were made from, and run Dask.
"""

"""Work on corpora larger than memory, in shards, on many machines; restarting resumes."""

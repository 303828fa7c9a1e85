"""The parts of every comparison: a table, a test of significance, a runner that resumes."""

"""A fitted story: p(x | T) with learned weights, how it was trained, and the file that keeps it."""

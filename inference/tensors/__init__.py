"""Algorithm 1 in tensor operations over any semiring, for whole batches on a GPU."""

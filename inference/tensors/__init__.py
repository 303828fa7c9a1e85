"""The inside algorithm, decoding and draws in tensor operations, for whole batches on a GPU."""

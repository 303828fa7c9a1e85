"""Raw text: lines, words, marks, spacing; no trees, no tensors."""

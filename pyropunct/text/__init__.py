"""Raw text: lines, words, marks, and how they are written; no trees, no tensors."""

"""Raw text: lines, words, marks of punctuation, and how they are written; no trees and no tensors."""

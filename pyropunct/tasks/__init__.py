"""Work that a fitted model does besides restoration: correct, explain, rephrase."""

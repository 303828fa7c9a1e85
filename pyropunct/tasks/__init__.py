"""What a fitted model is used for, besides restoration: correction, explanation, rephrasing."""

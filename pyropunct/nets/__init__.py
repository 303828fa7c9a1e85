"""Networks that read words: words as numbers, layers, pretrained features, training, saving."""

"""Neural networks that read words: encoding of words, layers, pretrained features, training, saving."""

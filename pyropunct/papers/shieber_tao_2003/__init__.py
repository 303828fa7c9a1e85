"""Comma restoration with hidden Markov models and counts of constituents (Shieber & Tao 2003).

Words, all marks but commas, and a constituency tree over them come in; the places of commas, and precision,
recall and F1 of these, go out.  Only the command line (``compare commas``) calls this room.  Example::

    from pyropunct.papers.shieber_tao_2003.models import CommaSystem
    from pyropunct.papers.shieber_tao_2003.sentences import CommaScores, read_comma_sentences

    train, dev = read_comma_sentences("train.mrg"), read_comma_sentences("dev.mrg")
    system = CommaSystem(train, model="10c")
    scores = CommaScores.of(system.restore(dev), [sentence.commas for sentence in dev])
    print(scores.marks.f1, scores.sentence_accuracy)
"""

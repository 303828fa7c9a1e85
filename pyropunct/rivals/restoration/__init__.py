"""All systems that restore punctuation: Table 3 and Figure 4 of Li, Wang & Eisner (2019), with significance.

Example::

    from pyropunct import read_treebank
    from pyropunct.rivals.restoration.conditions import Conditions
    from pyropunct.rivals.restoration.measuring import compare

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    comparison = compare(train, dev, Conditions(shares=(10, 20, 50, 100)), folder="comparison")
    print(comparison.to_markdown())
    comparison.plot("comparison.svg")

Equal settings and seeds give equal results on the same machine with the same number of threads, even if the
comparison was interrupted and continued.
"""

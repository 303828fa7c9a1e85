"""Systems that restore punctuation: Table 3 and Figure 4 of Li, Wang & Eisner (2019), with significance.

Example::

    from pyropunct import read_treebank
    from pyropunct.rivals.restoration.conditions import Conditions
    from pyropunct.rivals.restoration.experiment import RestorationExperiment

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    conditions = Conditions(shares=(10, 20, 50, 100))
    results = RestorationExperiment(train, dev, conditions, folder="comparison").run()
    print(results.to_markdown())
    results.plot("comparison.svg")

Equal settings and seeds give equal results on the same machine and number of threads, also after an
interruption.
"""

"""Systems that restore punctuation: Table 3 and Figure 4 of Li, Wang & Eisner (2019), with significance.

Example::

    from pyropunct import read_treebank
    from pyropunct.papers.li_2019.restoration_experiment import RestorationExperiment
    from pyropunct.papers.li_2019.restorers import Conditions

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    conditions = Conditions(shares=(10, 20, 50, 100))
    results = RestorationExperiment(train, dev, conditions, folder="comparison").run()
    print(results.to_markdown())

Equal settings and seeds give equal results on the same machine and number of threads, also after an
interruption.
"""

"""Systems that restore or correct punctuation: Table 3 and Figure 4 of Li, Wang & Eisner (2019), with
significance.

Treebanks of training and dev come in; trained systems in a folder, and tables of their perplexity, edit
distance and F1, go out.  The command line (``compare restoration``, ``compare correction``) calls this room,
and `pyropunct.papers.shieber_tao_2003` takes its runs and its parses.  Example::

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

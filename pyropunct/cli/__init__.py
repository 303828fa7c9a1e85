"""The command line, one file a command: load, call the task, report.

Options, files and standard input come in; text, tables, JSON, CoNLL-U, drawings and an exit status go out.
Only ``python -m pyropunct`` and the script ``pyropunct`` call this room; it may call all others.
"""

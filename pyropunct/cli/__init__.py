"""The command line, one file a command: load, call the task, report."""

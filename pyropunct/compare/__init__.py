"""What every comparison of systems is made of: a table, a test of significance, reports of progress."""

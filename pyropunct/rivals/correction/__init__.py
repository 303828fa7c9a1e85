"""Ways to correct punctuation, measured on simulated errors and on errors of learners."""

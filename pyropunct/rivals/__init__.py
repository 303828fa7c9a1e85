"""Systems to compare with, one room a paper or a comparison."""

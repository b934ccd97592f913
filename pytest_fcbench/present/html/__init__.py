"""Scorecards, with the entries that suites have, as one HTML file that needs nothing else."""

"""Scorecards, and what suites tell of their entries, as one HTML file that needs nothing else."""

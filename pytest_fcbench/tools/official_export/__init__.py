"""Scores in the formats of the official leaderboard: ``scores`` (score files), ``tables`` (CSV files).

Result files, which are read too, are in ``models.official_results``.
"""

"""Scores in the formats of the official leaderboard: score files and CSV files.

Result files, which are read too, are in ``models.official_results``.
"""

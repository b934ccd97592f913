"""Scorecards in the forms of other tools: tables, data files, charts, model cards, logs and trackers."""

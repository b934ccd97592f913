"""Answers that only a check of a team's own judges."""

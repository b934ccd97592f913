"""Scorecards beside each other: pairs, changes, ranks, merged parts."""

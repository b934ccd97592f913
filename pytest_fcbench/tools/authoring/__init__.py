"""Growing a suite: entries made from entries by code."""

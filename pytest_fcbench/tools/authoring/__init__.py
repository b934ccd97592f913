"""Extension of a suite: entries made from entries by code."""

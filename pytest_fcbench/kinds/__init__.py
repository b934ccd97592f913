"""Kinds of entries: a folder for each, with everything that only it knows."""

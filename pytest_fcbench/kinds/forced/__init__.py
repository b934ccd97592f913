"""Entries whose truth a server is given in place of a model's answer, to give back as calls."""

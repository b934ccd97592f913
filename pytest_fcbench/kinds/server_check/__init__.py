"""Checks of a server: requests, and properties that the replies must have whatever model answers."""

"""Calls that act on environments, turn by turn."""

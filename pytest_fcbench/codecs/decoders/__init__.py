"""Readers of calls, one for each syntax in which they are written."""

"""Calls that are carried out, each by itself, and requests to web APIs."""

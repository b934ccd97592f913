"""Asking the web for what a model names, without ever reaching what is not public."""

"""Functions shown to a model, and its answers read as calls."""

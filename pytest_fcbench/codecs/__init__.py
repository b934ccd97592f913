"""How functions are shown to a model and how its answer is read back as calls."""

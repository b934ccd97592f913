"""Access to the web for addresses that a model names, limited to public hosts."""

"""The YAML formats of entries, one module per kind of entry."""

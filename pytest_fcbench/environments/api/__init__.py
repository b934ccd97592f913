"""The eight API domains of multi-turn entries."""

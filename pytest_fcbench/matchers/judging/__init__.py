"""Questions to a judge about matters that rules cannot decide, with strictly formed answers."""

"""Models that need no network: the truth, word matching, scripts, stored answers."""

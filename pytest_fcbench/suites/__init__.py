"""Suites, the sources of entries: ``core`` (ours, embedded), official ones from packs, a team's own."""

"""Where entries come from: ``core`` (ours, embedded), official ones from packs, a team's own."""

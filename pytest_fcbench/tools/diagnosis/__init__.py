"""Why conversations failed: by their calls, by a judge, and how judges agree."""

"""Why conversations failed: what a judge is asked, what is kept of its answers, how answers compare."""

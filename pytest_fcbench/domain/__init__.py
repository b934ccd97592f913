"""Types that all rooms share: entries, transcripts, verdicts, prices, errors."""

"""What passes between the rooms: entries, transcripts, verdicts, prices, errors."""

"""What judging shares among kinds: equal values, plain text, known-bad entries, questions to a judge."""

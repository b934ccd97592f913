"""Whether the entries of a suite are sound: checks and what they find, the review, how a suite is spread."""

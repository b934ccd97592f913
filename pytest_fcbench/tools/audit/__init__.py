"""The audit of a suite: checks of its entries, their findings, the review, distributions."""

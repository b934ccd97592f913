"""Processes that are forked from one that has imported everything, where a start of Python shows nothing."""

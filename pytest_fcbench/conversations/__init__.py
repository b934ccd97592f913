"""Conversations about entries: generators without I/O that yield requests and calls."""

"""Requests to web APIs: reading, sending, and playing recorded answers."""

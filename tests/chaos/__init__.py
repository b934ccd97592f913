"""Runs against servers that lie, shout, stall and repeat what they should not; all on loopback."""

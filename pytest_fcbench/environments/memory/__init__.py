"""The three memories, and how they find what was stored."""

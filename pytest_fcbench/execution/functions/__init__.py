"""The functions that stateless calls may name."""

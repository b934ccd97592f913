"""Entries of other kinds in other prompt formats."""

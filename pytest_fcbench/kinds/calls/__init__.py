"""Calls that are compared as they are written (BFCL's AST evaluation)."""

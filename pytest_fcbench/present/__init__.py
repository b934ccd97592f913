"""Scores as text, tables, JSON, HTML and charts."""

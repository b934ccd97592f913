"""What people see, kept as text: ``python -m tests.screens --write`` takes every screen again."""

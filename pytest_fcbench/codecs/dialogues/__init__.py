"""Conversations in the form of each model family: what is shown, what goes back, what is read."""

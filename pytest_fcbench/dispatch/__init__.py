"""Dispatch of conversations: the only room that calls models."""

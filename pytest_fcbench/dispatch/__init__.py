"""Running conversations: the only room that drives models."""

"""Equivalence of argument values by rules alone: the judge ``builtin``."""

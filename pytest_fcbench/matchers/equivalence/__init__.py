"""Whether two argument values mean the same, by rules alone: the judge ``builtin``."""

"""No call at all, or at least one, where no function or some function fits."""

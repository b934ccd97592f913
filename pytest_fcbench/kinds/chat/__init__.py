"""Words, where no function is offered."""

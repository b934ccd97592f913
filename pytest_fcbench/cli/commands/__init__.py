"""The commands of ``fcbench``, one module each: ``register`` declares it, a function runs it."""

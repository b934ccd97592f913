"""The ``fcbench`` command: ``main``, one module per command, and what commands share."""

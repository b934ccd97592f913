"""The ``fcbench`` command: ``main``, one module per command, and their common parts."""

"""Commands that make and check entries: ``fcbench suite ...``."""

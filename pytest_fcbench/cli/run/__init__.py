"""Commands that read finished runs: ``fcbench run ...``."""

"""The rules that decide the exit code of a run."""

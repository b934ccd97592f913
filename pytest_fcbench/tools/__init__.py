"""What grows or examines suites and models, and is not needed to run a benchmark."""

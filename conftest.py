"""The root of a benchmark project: nothing is needed here, the installed plugin brings everything."""

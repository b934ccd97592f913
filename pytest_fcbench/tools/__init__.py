"""Tools that extend or examine suites and models, and that no benchmark run needs."""

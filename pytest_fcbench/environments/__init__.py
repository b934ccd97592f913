"""The environments that calls act on: eight API domains, three memories, the web."""

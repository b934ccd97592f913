"""How an entry is put to a model: generators without I/O that yield requests and calls."""

"""Models that answer requests: providers, baselines, judges, embeddings."""

"""An OpenAI-compatible model server on loopback, with faults on demand."""

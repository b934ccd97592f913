"""What models are asked equals what the official harnesses ask, compared request by request."""

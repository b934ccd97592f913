"""Models outside this package: behind litellm, in a Python function, the API for bookings."""

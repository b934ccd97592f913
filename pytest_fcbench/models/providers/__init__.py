"""Models that are asked: litellm, a Python function, the recorded APIs of bookings."""

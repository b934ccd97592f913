"""Charts, and the colours and the policy of pages; only ``drawing`` and ``plots`` bring matplotlib."""

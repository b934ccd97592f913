"""Words that a memory or the web holds, found by calls."""

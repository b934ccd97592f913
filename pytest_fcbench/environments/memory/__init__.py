"""The three kinds of memory, and the measures by which they find texts."""

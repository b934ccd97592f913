"""Charts as files of their own: one layout of shapes, written as SVG without, and as PNG with matplotlib."""

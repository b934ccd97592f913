"""One benchmark run: what is asked, who answers, and the Records that come of it."""

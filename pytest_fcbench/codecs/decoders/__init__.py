"""Call syntaxes: how the text of an answer is read as calls."""

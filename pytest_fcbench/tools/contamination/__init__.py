"""A test of whether a model has seen one set of entries in training rather than another.

A text that a model was trained on surprises it less. So the probabilities that the model gives to the
texts of two sets are compared: one that was public when it was trained, and one that was not (BFCL, Patil
et al. 2025, section 5.5: perplexity, and negative log-likelihood of the characters).
"""

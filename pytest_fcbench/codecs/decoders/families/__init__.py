"""The call syntaxes that families of models write by themselves, one file for each.

The published verdicts of these models rest on the readings of their official handlers (``bfcl_eval``'s
``model_handler``), which is why each is followed to the letter in the official profile.
"""

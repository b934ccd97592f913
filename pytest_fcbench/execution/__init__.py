"""Functions that calls are carried out with, and the processes that do it.

``formulas`` are BFCL's, ``everyday`` those of ``core``, ``lookups`` those that ask a web API (``live``).
Requests that a model writes itself are read by ``rest`` and sent by ``performing``; ``services`` are those of
``core``.
"""

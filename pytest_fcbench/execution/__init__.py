"""Execution of stateless calls: the functions, the sandbox they run in, requests to web APIs.

``formulas`` are BFCL's functions, ``everyday`` those of ``core``, ``lookups`` those that ask a web API
(``live``). Requests that a model writes itself are read by ``rest_apis`` and sent by ``rest_performer``;
``rest_services`` are those of ``core``.
"""

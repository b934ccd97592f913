"""Function docs of environments."""

from __future__ import annotations

import inspect
from dataclasses import replace

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.environment import Environment


def document_domain(domain: type[Environment]) -> tuple[FunctionDoc, ...]:
    """Return the docs of all functions of a domain, each with the description of its class.

    Raises ``UsageError``.
    """
    about = " ".join((inspect.getdoc(domain) or "").split())
    return tuple(
        replace(doc, description=f"{about} {doc.description}".strip())
        for doc in python_code.document_methods(domain, left_out=vars(Environment))
    )

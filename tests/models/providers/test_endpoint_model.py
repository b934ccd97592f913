"""What all models behind an endpoint have in common."""

from __future__ import annotations

import pickle

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.endpoint_model import RequestRefusedError


def test_an_error_with_other_arguments_survives_pickling_with_its_reason() -> None:
    """A worker of xdist once told the cause in place of the reason."""
    error = pickle.loads(pickle.dumps(RequestRefusedError("m: no such parameter", "no such parameter")))
    assert (type(error), error.cause, error.reason) == (CallError, "bad_request", "m: no such parameter")

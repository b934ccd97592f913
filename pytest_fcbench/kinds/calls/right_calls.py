"""The calls of a right answer, each argument with its first accepted value."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.calls.truth import ExpectedCall, choose_plain_value, list_expected_calls
from pytest_fcbench.kinds.kind import RightCalls


def list_right_calls(entry: Entry) -> RightCalls:
    """List the expected calls, which are all made at once."""
    return [[[choose_call(call, entry.find_function(call.name)) for call in list_expected_calls(entry)]]]


def choose_call(expected_call: ExpectedCall, doc: FunctionDoc | None) -> Call:
    """Return the call with the first accepted value of each argument, without what may be left out."""
    required_names = doc.required if doc else ()
    arguments = {}
    for name, accepted_values in expected_call.accepted.items():
        options = accepted_values if isinstance(accepted_values, list) else [accepted_values]
        # "" among the accepted values means that the parameter may be left out.
        if "" in options and name not in required_names:
            continue
        first = next((option for option in options if option != ""), "" if options else [])
        arguments[name] = choose_plain_value(first)
    return Call(expected_call.name, arguments)

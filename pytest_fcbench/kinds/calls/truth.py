"""Calls of a right answer, and how values are compared with those that they accept.

Values are compared by value, whatever type a function doc declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.explanation import CERTAIN, LIKELY, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.judging.text_normalization import standardize, unify_texts
from pytest_fcbench.kinds.kind import RightCalls


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call of a right answer (BFCL's *possible answer*).

    ``accepted`` maps a parameter to its acceptable values; ``""`` among them means it may be left out.
    A dict value is written ``{key: [acceptable, ...]}``, a list of dicts as a list of such.
    """

    name: str
    accepted: Mapping[str, object]
    judged: tuple[str, ...] = ()
    """Parameters with free text, which a judge compares; only entries of a team's own suites have some."""


def choose_plain_value(option: object) -> object:
    """Return an accepted value in plain form: the first of a dict's alternatives for each key.

    Keys that may be left out are left out. Values deeper inside a dict are plain already: officially they are
    compared as they are.
    """
    if isinstance(option, list):
        return [choose_plain_value(item) for item in option]
    if not isinstance(option, Mapping):
        return option
    return {
        key: alternatives[0]
        for key, alternatives in option.items()
        if isinstance(alternatives, list) and alternatives and "" not in alternatives
    }


def list_alternatives(value: object) -> object:
    """Convert a value to the form of ``ExpectedCall``: members of a dict become lists of accepted values."""
    if isinstance(value, (list, tuple)):
        return list(map(list_alternatives, value))
    if isinstance(value, Mapping):
        return {key: [list_alternatives(member)] for key, member in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class ExpectedCalls(Expectation):
    """The answer must consist of these calls."""

    calls: tuple[ExpectedCall, ...]

    @property
    def has_free_text(self) -> bool:
        """True where a judge compares an argument, if one is named."""
        return any(call.judged for call in self.calls)


def list_expected_calls(entry: Entry) -> Sequence[ExpectedCall]:
    """List the expected calls of an entry; none where its right answer is something else."""
    return entry.expectation.calls if isinstance(entry.expectation, ExpectedCalls) else ()


PARALLEL = ("parallel", "next_call")
"""The kinds whose entries expect several calls, in any order; any other expects exactly one call."""


def expects_several_calls(entry: Entry) -> bool:
    """Tell whether several calls are expected, in any order."""
    return entry.judged_category.kind in PARALLEL


def offers_one_function(entry: Entry) -> bool:
    """Tell whether only the right function is offered."""
    return entry.judged_category.kind == "simple"


def expect_only(entry: Entry, call: ExpectedCall) -> Entry:
    """Copy an entry with this call as the only expected one, so that verdicts name a parameter."""
    # A rule for several calls would say only that no call matches.
    category = replace(entry.category, kind="simple" if offers_one_function(entry) else "multiple")
    return replace(entry, category=category, expectation=ExpectedCalls((call,)), tables=())


def find_flaws(entry: Entry) -> Iterator[Flaw]:
    """Find the first thing in which an entry differs from its shape."""
    count, offer_count = len(list_expected_calls(entry)), len(entry.functions)
    is_parallel = expects_several_calls(entry)
    if count != 1 and not is_parallel:
        yield Flaw(CERTAIN, f"{count} calls are expected, but {entry.kind} allows exactly one")
    elif offer_count != 1 and offers_one_function(entry):
        yield Flaw(CERTAIN, f"{offer_count} functions are offered, but {entry.kind} uses only the first")
    elif offer_count < 2 and entry.judged_category.kind == "multiple":
        yield Flaw(LIKELY, "only one function is offered, so there is nothing to choose from")
    elif count < 2 and is_parallel and not entry.category.continues:
        yield Flaw(LIKELY, f"{count} call is expected in a category with several calls")


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


def list_options(accepted_values: object) -> Sequence[object]:
    """Return the accepted values of a parameter; a bare value is the only one."""
    return accepted_values if isinstance(accepted_values, (list, tuple)) else [accepted_values]


def name_kind(value: object) -> str:
    """Name the kind of a value as JSON knows it; 1 and 1.0 are of one kind."""
    match value:
        # First, because a boolean is an int.
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case Mapping():
            return "dict"
    return "others"


def means_same(option: object, value: object) -> bool:
    """Tell whether a value is the accepted one, in whatever form of Unicode its texts are."""
    return values_agree(unify_texts(option), unify_texts(value))


def values_agree(option: object, value: object) -> bool:
    """Tell whether a value is the accepted one, compared at every depth.

    Inside a dict, an accepted list may mean that list or a list of alternatives.
    """
    kind = name_kind(option)
    # Kinds first, because 1 == True in Python.
    if kind != name_kind(value):
        return False
    if isinstance(option, str) and isinstance(value, str):
        return option == value or standardize(option) == standardize(value)
    if isinstance(option, (list, tuple)) and isinstance(value, (list, tuple)):
        return len(option) == len(value) and all(map(values_agree, option, value))
    if isinstance(option, Mapping) and isinstance(value, Mapping):
        return value.keys() <= option.keys() and all(
            _agree_in_dict(option[key], value[key]) if key in value else "" in list_options(option[key])
            for key in option
        )
    return option == value


def _agree_in_dict(accepted_values: object, value: object) -> bool:
    """Tell whether the value of a key is accepted; ``""`` only means that the key may be left out."""
    options = list_options(accepted_values)
    literal_empty = all(option == "" for option in options)
    return values_agree(accepted_values, value) or any(
        values_agree(option, value)
        for option in options
        if option is not accepted_values and (option != "" or literal_empty)
    )

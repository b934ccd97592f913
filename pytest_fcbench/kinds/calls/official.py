"""The verdict of BFCL's ``ast_checker``, rule by rule and in its order of checks.

A call matches an expected one when the name is equal, every required parameter is there, no parameter
is unknown to the doc or to the answer, every value has exactly the declared type and is among the
accepted ones, and every accepted parameter that is left out has ``""`` among its values.

Kept on purpose, because scores depend on them:

- ``True`` is no integer, ``5.0`` is no integer, but an integer is a float (at the top level only);
- where the first accepted value has another type than declared, a value of *that* type is compared
  exactly (a variable's name);
- ``""`` as first accepted value switches the check of element types off; ``""`` itself passes for an
  optional string, ``[]`` for an optional list;
- values inside dicts and nested lists are compared by plain equality, where ``1 == True``;
- an accepted dict value that is a text instead of a list is taken letter by letter;
- calls in parallel are matched greedily, in the order of the expected ones.

Java and JavaScript values must be texts; they are read by the literal patterns of their language first.
Where the official code would crash (an undeclared type, a value that cannot be iterated), the answer
does not match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import java, javascript
from pytest_fcbench.codecs.decoders.syntax import Calls, Unreadable
from pytest_fcbench.codecs.function_docs.json_schema import list_untyped
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language, find_element_type
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.judging.text_normalization import mark_lookalikes, standardize
from pytest_fcbench.kinds.calls import truth
from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_expected_calls, values_agree


def match_calls(entry: Entry, reading: Calls | Unreadable, names: Names) -> Verdict:
    """Return the official verdict on a reading of the answer. ``entry`` must expect calls."""
    if isinstance(reading, Unreadable):
        return Failed(reading.code, f"cannot be read as calls: {reading.reason}")
    expected_calls = list_expected_calls(entry)
    # Official: ast_checker, which looks for these words in the name of the category.
    if not truth.expects_several_calls(entry):
        # Official: multiple wants as many calls as the ground truth, which in its entries is one as well.
        kind = "multiple" if entry.judged_category.kind == "multiple" else "simple"
        if len(reading.calls) != 1:
            return fail_wrong_count(f"{kind}_function_checker:wrong_count", expected_calls, reading.calls)
        return match_call(entry, expected_calls[0], reading.calls[0], names)
    checker = "parallel_function_checker_no_order"
    if len(reading.calls) != len(expected_calls):
        return fail_wrong_count(f"{checker}:wrong_count", expected_calls, reading.calls)
    for place, misses in pair_calls(entry, expected_calls, reading.calls, names).misses.items():
        return fail_unmatched(f"{checker}:cannot_find_match", place, expected_calls[place], misses)
    return Passed()


@dataclass(frozen=True, slots=True)
class CallPairing:
    """A pairing of expected calls, by their place, with those that were made."""

    partners: Mapping[int, int]
    """The place of the call that fits, by that of the expected call."""
    misses: Mapping[int, Mapping[int, Failed]]
    """Why calls do not fit, by their place, for each expected call without a partner."""


def pair_calls(
    entry: Entry, expected_calls: Sequence[ExpectedCall], calls: Sequence[Call], names: Names
) -> CallPairing:
    """Pair each expected call with the first that fits and is free."""
    # Official: parallel_function_checker_no_order takes the first that fits and never goes back.
    partners: dict[int, int] = {}
    misses: dict[int, Mapping[int, Failed]] = {}
    for place, expected_call in enumerate(expected_calls):
        failures: dict[int, Failed] = {}
        for at in (at for at in range(len(calls)) if at not in partners.values()):
            verdict = match_call(entry, expected_call, calls[at], names)
            if isinstance(verdict, Passed):
                partners[place] = at
                break
            failures[at] = verdict
        else:
            misses[place] = failures
    return CallPairing(partners, misses)


def fail_wrong_count(code: str, expected_calls: Sequence[ExpectedCall], calls: Sequence[Call]) -> Failed:
    """Fail an answer with too many or too few calls, in the same words in both profiles."""
    reason = f"{len(calls)} call{'s' * (len(calls) != 1)} came, {len(expected_calls)} expected"
    names = {"found": [call.name for call in calls[:20]], "expected": [call.name for call in expected_calls]}
    return Failed(code, reason, names)


def fail_unmatched(code: str, place: int, call: ExpectedCall, misses: Mapping[int, Failed]) -> Failed:
    """Fail an answer in which no call matches the expected one at a place; name the nearest miss."""
    nearest = next((miss for miss in misses.values() if not miss.code.endswith("wrong_func_name")), None)
    why = f"; nearest: {nearest.reason}" if nearest else "; no call of that function is left"
    first_misses = list(misses.items())[:20]
    shown_misses = [{"found": at, "code": miss.code, "reason": miss.reason} for at, miss in first_misses]
    details = {"function": call.name, "expected": place, "misses": shown_misses}
    return Failed(code, f"no call matches the expected {call.name}{why}", details)


def match_call(entry: Entry, expected_call: ExpectedCall, call: Call, names: Names) -> Passed | Failed:
    """Compare a call with an expected one; the first check that fails gives the code."""
    return next(find_faults(entry, expected_call, call, names), Passed())


def find_faults(entry: Entry, expected_call: ExpectedCall, call: Call, names: Names) -> Iterator[Failed]:
    """Find what keeps a call from being an expected one, in the order of the official checks."""
    # The simple categories look at the only function there is, the others at the one of that name.
    # Under pressure the only function stands among others.
    is_only = truth.offers_one_function(entry) and entry.pressure is None
    doc = entry.functions[0] if is_only else entry.find_function(expected_call.name)
    if doc is None:
        reason = f"{expected_call.name} is not among the entry's functions"
        yield Failed("simple_function_checker:unclear", reason)
        return
    # The checks and their order are those of simple_function_checker: the first failure gives the code.
    expected_name = names.show_name(doc.name)
    if call.name != expected_name:
        yield fail_wrong_name(expected_name, call)
        return
    yield from (fail_missing_required(doc, name) for name in doc.required if name not in call.arguments)
    for name, value in call.arguments.items():
        # A parameter of the doc that the possible answer lacks is unexpected, too.
        if name not in doc.properties or name not in expected_call.accepted:
            yield fail_unexpected(doc, name, value)
            continue
        accepted_values = list_accepted(expected_call.accepted[name])
        if failure := match_value(entry.category.language, doc, name, value, accepted_values):
            yield failure
    for name in expected_call.accepted:
        if name not in call.arguments and "" not in list_accepted(expected_call.accepted[name]):
            yield fail_missing_optional(doc, name, expected_call.accepted[name])


def fail_wrong_name(expected_name: str, call: Call) -> Failed:
    """Fail a call of another function."""
    reason = f"{call.name} was called, {expected_name} expected"
    details = {"function": expected_name, "found": call.name}
    return Failed("simple_function_checker:wrong_func_name", reason, details)


def fail_missing_required(doc: FunctionDoc, name: str) -> Failed:
    """Fail a call without a required parameter."""
    return _fail_parameter("missing_required", doc, name, f"required parameter {name} is missing")


def fail_unexpected(doc: FunctionDoc, name: str, value: object) -> Failed:
    """Fail a call with a parameter that the doc or the possible answer does not have."""
    what = "should not be given" if name in doc.properties else "is not a parameter"
    reason = f"{name} {what} (came: {show_value(value)})"
    return _fail_parameter("unexpected_param", doc, name, reason, found=value)


def fail_missing_optional(doc: FunctionDoc, name: str, accepted_values: object) -> Failed:
    """Fail a call that leaves a parameter to its default where the query fixes it."""
    reason = f"{name} is missing, expected {show_value(accepted_values)}"
    return _fail_parameter("missing_optional", doc, name, reason, accepted=accepted_values)


def fail_wrong_value(code: str, doc: FunctionDoc, name: str, value: object, accepted: object) -> Failed:
    """Fail a call with a value that is not among the accepted ones."""
    marked_values = mark_lookalikes(show_value(value), show_value(accepted))
    reason = f"{name} is {marked_values[0]}, accepted: {marked_values[1]}"
    return _fail_parameter(code, doc, name, reason, found=value, accepted=accepted)


def _fail_parameter(code: str, doc: FunctionDoc, name: str, reason: str, **values: object) -> Failed:
    """Fail a call for one of its parameters."""
    code = code if ":" in code else f"simple_function_checker:{code}"
    details = {key: show_value(value, _LONGEST_DETAIL) for key, value in values.items()}
    return Failed(code, f"{doc.name}: {reason}", {"function": doc.name, "parameter": name, **details})


OFFICIAL_READERS = {
    Language.JAVA: java.parse_official_literal,
    Language.JAVASCRIPT: javascript.parse_official_literal,
}
"""The official readers of literals of the languages whose values come as source text."""
NO_SOURCE_TEXT = {Language.JAVA: "type_error:java", Language.JAVASCRIPT: "type_error:js"}
"""The codes of values of these languages that are no text."""


def show_value(value: object, longest: int = 160) -> str:
    """Return a short ``repr`` for a sentence, whatever the value is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError) as error:
        # An integer of too many digits, or a value that is too deep.
        return f"a value of type {type(value).__name__} that cannot be written ({str(error)[:40]})"
    return shorten_text(text, longest)


_LONGEST_DETAIL = 2_000

_Accepted: TypeAlias = Sequence[object]


def list_accepted(accepted_values: object) -> _Accepted:
    """Return the accepted values of a parameter; a bare text stays one, as officially."""
    return accepted_values if isinstance(accepted_values, (list, tuple, str)) else [accepted_values]


def match_value(
    language: Language, doc: FunctionDoc, name: str, value: object, accepted_values: _Accepted
) -> Failed | None:
    """Compare the value of a parameter with the accepted ones; return None where it is one of them."""
    schema, types = doc.properties[name], TYPES[language]
    # No official doc leaves open which of several types a parameter has, so no official rule says what fits.
    if name in list_untyped(doc):
        if any(values_agree(option, value) for option in accepted_values if option != ""):
            return None
        return fail_wrong_value("value_error:others", doc, name, value, accepted_values)
    declared_type, inner = str(schema.get("type", "string")), find_element_type(language, schema)
    outer, element = types.get(declared_type, str), types.get(inner, str) if inner else None
    if language is not Language.PYTHON:
        if not isinstance(value, str):
            return fail_wrong_value(NO_SOURCE_TEXT[language], doc, name, value, accepted_values)
        value = OFFICIAL_READERS[language](value, declared_type, inner)
    # Only a declared tuple may be one; for an array it is a type error.
    elif declared_type == "tuple" and type(value) is tuple:
        value = list(value)
    elif outer is float and type(value) is int:
        # Nothing nested is converted, so [1, 2] is not [1.0, 2.0] (ast_checker.py:132).
        with suppress(OverflowError):
            value = float(value)
    # Official: type_checker, then the checker of the value's type.
    variable, error_code = _check_type(value, accepted_values, outer, element)
    error_code = error_code or _check_value(value, accepted_values, outer, element, variable=variable)
    return fail_wrong_value(error_code, doc, name, value, accepted_values) if error_code else None


def _check_type(
    value: object, accepted_values: _Accepted, expected_type: type, element: type | None
) -> tuple[bool, str | None]:
    """Return whether the value counts as a variable, and the error code if its type is wrong."""
    first = next((answer for answer in accepted_values if answer != ""), None)
    # None among the accepted values is a type of its own; only "nothing but ''" leaves the type open.
    has_type = any(answer != "" for answer in accepted_values)
    # The exact type counts: True is no integer.
    variable = has_type and type(first) is not expected_type
    wrong_element = False
    if type(value) is expected_type:
        # A possible answer that is no list passes all, so "" as first accepted value switches the check off.
        if element is None or any(
            not isinstance(answer, list)
            or not isinstance(value, Iterable)
            or all(_check_type(item, answer, element, None)[1] is None for item in value)
            for answer in accepted_values
        ):
            return variable, None
        wrong_element = True
    # The value counts as a variable, but the call stays wrong after an element had the wrong type.
    if has_type and type(value) is type(first):
        return True, "type_error:nested" if wrong_element else None
    return variable, "type_error:simple"


def _check_value(
    value: object, accepted_values: _Accepted, outer: type, element: type | None, *, variable: bool
) -> str | None:
    """Return the error code of a value that is not among the accepted ones, else None."""
    if not variable:
        if outer is dict and isinstance(value, dict):
            return _check_dict(value, accepted_values)
        if outer is list and isinstance(value, list):
            if element is dict:
                return _check_dicts(value, accepted_values)
            # "" among the accepted values becomes [], so an empty list passes for an optional array.
            lists = (answer for answer in accepted_values if isinstance(answer, (list, str)))
            answers = [list(map(_standardize_value, answer)) for answer in lists]
            same = list(map(_standardize_value, value)) in answers
            return None if same else "value_error:list/tuple"
        if isinstance(value, str):
            # "" standardizes to "", so an optional text may also be given as "" or " .".
            texts = [standardize(answer) for answer in accepted_values if isinstance(answer, str)]
            return None if standardize(value) in texts else "value_error:string"
    # Official: of a bare text it is what Python's "in" says of texts.
    if isinstance(accepted_values, str):
        return None if isinstance(value, str) and value in accepted_values else "value_error:others"
    return None if value in accepted_values else "value_error:others"


def _standardize_value(value: object) -> object:
    return standardize(value) if isinstance(value, str) else value


def _check_dict(value: Mapping[object, object], accepted_values: _Accepted) -> str | None:
    """Return the code of ``dict_checker``: the last candidate's; a missing key outweighs a wrong value."""
    code: str | None = "dict_checker:unclear"
    for answer in accepted_values:
        if answer == "":
            continue
        code = _check_against_dict(value, answer) if isinstance(answer, Mapping) else "dict_checker:unclear"
        if code is None:
            return None
    return code


def _check_against_dict(value: Mapping[object, object], answer: Mapping[object, object]) -> str | None:
    code = None
    for key, item in value.items():
        if key not in answer:
            code = "value_error:dict_key"
            break
        options = answer[key]
        # Nested values are compared as they are: only texts right under the key are standardized.
        options = options if isinstance(options, (list, str)) else ()
        if _standardize_value(item) not in list(map(_standardize_value, options)):
            code = "value_error:dict_value"
            break
    # Accepted keys that the value lacks are looked at last, and win.
    for key, options in answer.items():
        if key not in value and not (isinstance(options, (list, str)) and "" in options):
            return "value_error:dict_key"
    return code


def _check_dicts(value: list[object], accepted_values: _Accepted) -> str | None:
    # Official: list_dict_checker reports the code of the last candidate.
    code: str | None = "list_dict_checker:unclear"
    for answer in accepted_values:
        if not isinstance(answer, (list, str)) or len(value) != len(answer):
            code = "value_error:list_dict_count"
            continue
        for item, option in zip(value, answer, strict=True):
            code = _check_dict(item, [option]) if isinstance(item, Mapping) else "list_dict_checker:unclear"
            if code is not None:
                break
        else:
            return None
    return code

"""Features that make an entry hard, which decide its stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_fcbench.domain.entry import (
    AnyCall,
    Entry,
    ExpectedCalls,
    ExpectedResults,
    GoldenPath,
    NoCall,
    Trajectory,
)
from pytest_fcbench.matchers.text_normalization import standardize
from pytest_fcbench.tools.audit.facts import join_user_messages
from pytest_fcbench.tools.audit.function_docs import list_offered_docs
from pytest_fcbench.tools.audit.truths import iterate_accepted_values
from pytest_fcbench.tools.authoring.languages import guess_language

_MANY_FUNCTIONS = 10
_MANY_CALLS = 3
_RELATED = 3
"""The fewest functions of one domain that a model has to tell apart."""


def has_many_functions(entry: Entry) -> bool:
    """Tell whether ten functions or more are offered."""
    return len(list_offered_docs(entry)) >= _MANY_FUNCTIONS


def has_related_functions(entry: Entry) -> bool:
    """Tell whether a right function stands among others of its domain; without one, whether any do."""
    domains = [doc.name.partition(".")[0] for doc in list_offered_docs(entry) if "." in doc.name]
    sought = set(domains)
    if isinstance(entry.expectation, ExpectedCalls):
        sought &= {call.name.partition(".")[0] for call in entry.expectation.calls}
    return any(domains.count(domain) >= _RELATED for domain in sought)


def has_defaults(entry: Entry) -> bool:
    """Tell whether a right answer may leave a parameter out, which a model must not fill otherwise."""
    return any(accepted.is_optional for accepted in iterate_accepted_values(entry))


def has_implied_values(entry: Entry) -> bool:
    """Tell whether a value that is needed stands nowhere in the question as it is."""
    question = standardize(join_user_messages(entry))
    return any(
        not accepted.is_optional
        and all(isinstance(value, (str, int, float)) for value in accepted.values)
        # Users write whole numbers without a point.
        and not any(
            standardize(str(int(value) if isinstance(value, float) and value.is_integer() else value))
            in question
            for value in accepted.values
        )
        for accepted in iterate_accepted_values(entry)
    )


def has_nested_values(entry: Entry) -> bool:
    """Tell whether a value is an object or a list of objects."""
    return isinstance(entry.expectation, ExpectedCalls) and any(
        _is_nested(doc.properties[name])
        for call in entry.expectation.calls
        if (doc := entry.find_function(call.name))
        for name in call.accepted
        if name in doc.properties
    )


def _is_nested(schema: Mapping[str, object]) -> bool:
    items = schema.get("items")
    return schema.get("type") in ("dict", "HashMap") or (isinstance(items, Mapping) and "properties" in items)


def count_expected_calls(entry: Entry) -> int:
    """Count the calls that a right answer makes, in all turns and steps; 1 where any call will do."""
    match entry.expectation:
        case ExpectedCalls(calls=calls) | ExpectedResults(calls=calls) | GoldenPath(calls=calls):
            return len(calls)
        case Trajectory(turns=turns):
            return sum(map(len, turns))
    return int(isinstance(entry.expectation, AnyCall))


def has_many_calls(entry: Entry) -> bool:
    """Tell whether a right answer makes three calls or more."""
    return count_expected_calls(entry) >= _MANY_CALLS


def needs_results(entry: Entry) -> bool:
    """Tell whether calls follow from the results of earlier ones, over several steps."""
    return not entry.category.single_turn


def needs_restraint(entry: Entry) -> bool:
    """Tell whether no call is right though three functions of one domain are offered."""
    return isinstance(entry.expectation, NoCall) and has_related_functions(entry)


def is_in_another_language(entry: Entry) -> bool:
    """Tell whether the question is asked in another language than that of the docs."""
    return guess_language(join_user_messages(entry)) != "English"


FEATURES: Mapping[str, Callable[[Entry], bool]] = {
    "ten functions or more": has_many_functions,
    "functions of one domain": has_related_functions,
    "defaults to leave alone": has_defaults,
    "values only implied": has_implied_values,
    "nested objects": has_nested_values,
    "three calls or more": has_many_calls,
    "results of earlier calls": needs_results,
    "near miss": needs_restraint,
    "another language": is_in_another_language,
}
"""The features by the words that tables use."""


STATED = ("unit or date arithmetic", "negation", "later correction")
"""Features that no function finds: a suite states them."""


def list_features(entry: Entry) -> Sequence[str]:
    """List the features of an entry that make it hard: those found here, and those that its suite states."""
    stated = entry.features or ()
    return [*(name for name, has in FEATURES.items() if has(entry)), *(n for n in STATED if n in stated)]

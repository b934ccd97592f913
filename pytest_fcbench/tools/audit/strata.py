"""Features that make an entry hard, which decide its stratum, and distributions of sizes (BFCL)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean

from pytest_fcbench.domain.entry import Entry, find_stratum
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.tools.audit.findings import join_user_messages
from pytest_fcbench.tools.audit.truths import iterate_accepted_values
from pytest_fcbench.tools.authoring.combination import guess_language

_MANY_FUNCTIONS = 10
_MANY_CALLS = 3
_MANY_RESULTS = 3
_RELATED = 3
"""The fewest functions of one domain that a model has to tell apart."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
"""A date as calls give it; users write dates in other ways."""


def has_related_functions(entry: Entry) -> bool:
    """Tell whether a right function stands among others of its domain; without one, whether any do."""
    domains = [doc.name.partition(".")[0] for doc in entry.all_functions if "." in doc.name]
    right_domains = set(domains)
    if calls := list_expected_calls(entry):
        right_domains &= {call.name.partition(".")[0] for call in calls}
    return any(domains.count(domain) >= _RELATED for domain in right_domains)


def has_implied_values(entry: Entry) -> bool:
    """Tell whether a value that is needed stands nowhere in the question as it is."""
    question = standardize(join_user_messages(entry))
    return any(
        not parameter.is_optional
        and all(isinstance(value, (str, int, float)) for value in parameter.values)
        and not any(_stands_in(question, value) for value in parameter.values)
        for parameter in iterate_accepted_values(entry)
    )


def _stands_in(text: str, value: object) -> bool:
    # Users write whole numbers without a point.
    shown_value = int(value) if isinstance(value, float) and value.is_integer() else value
    return standardize(str(shown_value)) in text


def is_said(value: object, text: str) -> bool:
    """Tell whether all that a value consists of stands in a text in the matcher's normal form."""
    if isinstance(value, (list, tuple)):
        return all(is_said(element, text) for element in value)
    if isinstance(value, Mapping):
        return all(is_said(member, text) for member in value.values())
    # Nobody says ``True``; a switch is described in other words.
    return isinstance(value, bool) or _stands_in(text, value)


def _is_nested(schema: Mapping[str, object]) -> bool:
    items = schema.get("items")
    return schema.get("type") in ("dict", "HashMap") or (isinstance(items, Mapping) and "properties" in items)


def list_calls_by_turn(entry: Entry) -> Sequence[Sequence[Call]]:
    """List the calls of a right answer, turn by turn; none where any call will do."""
    return [[*chain.from_iterable(steps)] for steps in find_kind(entry).list_right_calls(entry)]


def count_expected_calls(entry: Entry) -> int:
    """Count the calls that a right answer makes, in all turns and steps; 1 where any call will do."""
    return int(entry.expectation.takes_any_call) or sum(map(len, list_calls_by_turn(entry)))


def has_many_calls(entry: Entry) -> bool:
    """Tell whether a right answer makes three calls or more in one turn."""
    return max(map(len, list_calls_by_turn(entry)), default=0) >= _MANY_CALLS


def count_results(entry: Entry) -> int:
    """Count the values that a right answer takes from the results of calls.

    Such a value stands neither in what the user has said so far nor in the docs. Of a trail through the web,
    each page that is read gives one; an answer from a memory is one.
    """
    calls_by_turn = list_calls_by_turn(entry)
    if entry.expectation.rests_on_results:
        return max(1, sum(call.name == "fetch_url_content" for calls in calls_by_turn for call in calls))
    if entry.category.single_turn:
        return 0
    docs, user_text, result_values = {doc.name: doc for doc in entry.all_functions}, "", set()
    for messages, calls in zip(entry.turns, calls_by_turn, strict=False):
        user_text += standardize(" ".join(message.shown_text for message in messages))
        for call in calls:
            doc = docs.get(call.name)
            for name, value in call.arguments.items():
                known_text = user_text + standardize(str(doc.properties.get(name)) if doc else "")
                if not is_said(value, known_text) and not _DATE.fullmatch(str(value)):
                    result_values.add(repr(value))
    return len(result_values)


FEATURES: Mapping[str, Callable[[Entry], bool]] = {
    "ten functions or more": lambda entry: len(entry.all_functions) >= _MANY_FUNCTIONS,
    "functions of one domain": has_related_functions,
    # A model must not fill them otherwise.
    "defaults to leave alone": lambda entry: any(each.is_optional for each in iterate_accepted_values(entry)),
    "values only implied": has_implied_values,
    "nested objects": lambda entry: any(_is_nested(each.schema) for each in iterate_accepted_values(entry)),
    "three calls or more": has_many_calls,
    "results of earlier calls": lambda entry: count_results(entry) > 0,
    "three results or more": lambda entry: count_results(entry) >= _MANY_RESULTS,
    # A function or a value comes later, so nothing can be called in one turn.
    "a turn to wait": lambda entry: len(entry.turns) > 1 and not all(list_calls_by_turn(entry)),
    # Results of calls are filled up with what nobody asked for.
    "long context": lambda entry: entry.category.long_context,
    "near miss": lambda entry: entry.expectation.forbids_calls and has_related_functions(entry),
    "another language": lambda entry: guess_language(join_user_messages(entry)) != "English",
}
"""The features by the words that tables use."""


STATED = ("arithmetic", "negation", "later correction")
"""Features that no function finds: a suite states them."""


def list_features(entry: Entry) -> Sequence[str]:
    """List the features of an entry that make it hard: those found here, and those that its suite states."""
    features = entry.features or ()
    return [*(name for name, has in FEATURES.items() if has(entry)), *(n for n in STATED if n in features)]


MEASURES: Mapping[str, str] = {
    "functions": "functions/entry",
    "parameters": "parameters/function",
    "calls": "calls/answer",
    "turns": "turns",
}
"""The counted sizes, each with the heading of its column."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The counts of each value in a category."""

    entries: int = 0
    measures: Mapping[str, Counter[int]] = field(default_factory=dict)
    """Counts by name in ``MEASURES``."""
    types: Counter[str] = field(default_factory=Counter)
    """Declared types of parameters, as the docs name them."""
    languages: Counter[str] = field(default_factory=Counter)
    """Languages of questions, guessed from script and common words."""
    strata: Counter[str] = field(default_factory=Counter)
    """Entries by stratum of difficulty."""


def count_by_category(entries: Sequence[Entry]) -> Mapping[str, Distribution]:
    """Count by category, in the order of the entries. Functions of several entries count each time."""
    entries_by_category: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        entries_by_category[entry.category.name].append(entry)
    distributions = {}
    for name, group in entries_by_category.items():
        docs_by_entry = [entry.all_functions for entry in group]
        docs = [doc for each in docs_by_entry for doc in each]
        schemas = [schema for doc in docs for schema in doc.properties.values()]
        distributions[name] = Distribution(
            entries=len(group),
            measures={
                "functions": Counter(map(len, docs_by_entry)),
                "parameters": Counter(len(doc.properties) for doc in docs),
                "calls": Counter(map(count_expected_calls, group)),
                "turns": Counter(len(entry.turns) for entry in group),
            },
            types=Counter(str(schema.get("type")) for schema in schemas if isinstance(schema, dict)),
            languages=Counter(guess_language(join_user_messages(entry)) for entry in group),
            strata=Counter(find_stratum(list_features(entry)).value for entry in group),
        )
    return distributions


def summarize_counts(counts: Counter[int]) -> str:
    """Format the mean, and least to most."""
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{fmean(counts.elements()):.1f} ({low}-{high})"

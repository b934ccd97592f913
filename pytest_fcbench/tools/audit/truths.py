"""Checks that a right answer exists: single-turn entries with possible answers.

Each accepted value is compared with the function doc. Then the oracle answers, and where its first choice is
refused, every other accepted value is tried. A matcher blames one parameter at a time, so this takes as many
tries as there are values, not as many as there are combinations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw
from pytest_fcbench.domain.function_doc import (
    WITH_ELEMENTS,
    FunctionDoc,
    Language,
    Schema,
    conforms_to_schema,
)
from pytest_fcbench.domain.prompting import ModelPresentation
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.calls.truth import (
    ExpectedCall,
    ExpectedCalls,
    expect_only,
    expects_several_calls,
    list_expected_calls,
    list_options,
)
from pytest_fcbench.kinds.calls.verdict import is_default
from pytest_fcbench.kinds.execution.verdict import LIVE_ONLY
from pytest_fcbench.kinds.sql.kind import find_broken_calls
from pytest_fcbench.tools.audit.findings import MANNERS, SuiteFacts, entry_check, format_value


class AcceptedValues(NamedTuple):
    """The accepted values of one parameter of an expected call."""

    doc: FunctionDoc
    name: str
    options: Sequence[object]

    @property
    def schema(self) -> Schema:
        """The schema of the parameter in the doc; empty where the doc lacks it."""
        return as_mapping(self.doc.properties.get(self.name))

    @property
    def values(self) -> Sequence[object]:
        """The values without ``""``, which means that the parameter may be left out."""
        return [option for option in self.options if option != ""]

    @property
    def is_optional(self) -> bool:
        """True where a call without the parameter is right."""
        return "" in self.options and self.name not in self.doc.required

    @property
    def label(self) -> str:
        """The parameter with its function, as ``function.parameter``."""
        return f"{self.doc.name}.{self.name}"


def iterate_accepted_values(entry: Entry) -> Iterator[AcceptedValues]:
    """Yield the accepted values of every parameter of every expected call of a known function."""
    for call in list_expected_calls(entry):
        if doc := entry.find_function(call.name):
            for name, options in call.accepted.items():
                # A value without a list is the only accepted one; ``malformed`` reports it.
                yield AcceptedValues(doc, name, list_options(options))


@entry_check("uncallable")
def find_uncallable_calls(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find expected calls that the function docs do not allow."""
    for call in list_expected_calls(entry):
        doc = entry.find_function(call.name)
        if doc is None:
            names = [doc.name for doc in entry.functions]
            yield Flaw(CERTAIN, f"{call.name} is expected, but only {format_value(names)} are offered")
            continue
        for name in doc.required:
            if name not in call.accepted:
                yield Flaw(CERTAIN, f"{call.name} requires {name}, for which the truth has no value")
        for name, options in call.accepted.items():
            if name in doc.properties:
                continue
            fault = f"{call.name} has no parameter {name}"
            # Calls without an optional parameter can still be right.
            if isinstance(options, (list, tuple)) and "" in options:
                yield Flaw(LIKELY, f"{fault}; accepted: {format_value(options)}")
            else:
                yield Flaw(CERTAIN, f"{fault}, but the truth demands {format_value(options)}")
    for parameter in iterate_accepted_values(entry):
        schema = parameter.schema
        has_elements = schema.get("type") in WITH_ELEMENTS[entry.category.language]
        # Of a list of dicts the keys are declared by its elements.
        inner = as_mapping(schema.get("items")) if has_elements else schema
        declared_keys = list(as_mapping(inner.get("properties")))
        keys = dict.fromkeys(key for option in parameter.values for key, _ in _iterate_members(option))
        if declared_keys and (undeclared_keys := [key for key in keys if key not in declared_keys]):
            fault = f"has no key {', '.join(undeclared_keys)}; the keys are {format_value(declared_keys)}"
            yield Flaw(LIKELY, f"{parameter.label} {fault}")


@entry_check("malformed")
def find_malformed_alternatives(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find accepted values that are not written as lists of alternatives, or hold none."""
    for call in list_expected_calls(entry):
        for name, options in call.accepted.items():
            if not isinstance(options, (list, tuple)):
                fault = f"{format_value(options)} is not a list of accepted values"
                yield Flaw(CERTAIN, f"{call.name}.{name}: {fault}")
    for parameter in iterate_accepted_values(entry):
        label, values = parameter.label, parameter.values
        is_required = parameter.name in parameter.doc.required
        levels = _count_declared_levels(entry.category.language, parameter.schema)
        if not parameter.options:
            yield Flaw(CERTAIN, f"{label}: no value is accepted, and the parameter must not be omitted")
        elif len(values) > 1 and all(_count_levels(value) < levels for value in values):
            # Several arrays that are each too shallow may be meant as the elements of one array.
            fault = "are alternatives; a single array of them would not match"
            yield Flaw(LIKELY, f"{label}: {format_value(values)} {fault}")
        # Officially "" means "may be left out", so an empty text can hardly be demanded.
        elif not values and is_required and parameter.schema.get("default") != "":
            yield Flaw(LIKELY, f"{label}: is required, and only an empty text is accepted")
        elif "" in parameter.options and is_required:
            fault = f"is required, so it cannot be omitted as {format_value(parameter.options)} allows"
            yield Flaw(HINT, f"{label}: {fault}")
        for key, value in (member for option in values for member in _iterate_members(option)):
            if isinstance(value, str):
                fault = f"{key} accepts {format_value(value)}, a text instead of a list of values"
                yield Flaw(CERTAIN, f"{label}: {fault}")


def _count_levels(value: object) -> int:
    return 1 + max(map(_count_levels, value), default=0) if isinstance(value, list) else 0


def _count_declared_levels(language: Language, schema: object) -> int:
    if not isinstance(schema, Mapping) or schema.get("type") not in WITH_ELEMENTS[language]:
        return 0
    return 1 + _count_declared_levels(language, schema.get("items"))


def _iterate_members(option: object) -> Iterator[tuple[str, object]]:
    """Yield the members of dicts at the level where official rules expect lists of alternatives."""
    for part in option if isinstance(option, list) else [option]:
        if isinstance(part, Mapping):
            yield from ((str(key), value) for key, value in part.items())


@entry_check("mistyped")
def find_mistyped_values(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find accepted values of another type than declared, or outside of the enum."""
    for parameter in iterate_accepted_values(entry):
        default, language = parameter.schema.get("default"), entry.category.language
        misfits = [
            misfit
            for option in parameter.values
            if option != default  # the default is what the doc declares, whatever its type
            and (misfit := next(_find_misfits(option, parameter.schema, language), None))
        ]
        if not misfits:
            continue
        if len(misfits) < len(parameter.values):
            severity, rest = HINT, "other accepted values fit"
        elif parameter.is_optional:
            severity, rest = LIKELY, "it can only be omitted"
        else:
            severity, rest = CERTAIN, "no accepted value fits"
        yield Flaw(severity, f"{parameter.label}: {misfits[0]}; {rest}")


def _find_misfits(option: object, schema: Schema, language: Language) -> Iterator[str]:
    """Yield the reasons why an accepted value violates the doc, at any depth."""
    schema_type, is_python = schema.get("type"), language is Language.PYTHON
    # Text in Java and JavaScript is source text, where a variable can have any type.
    if isinstance(option, str) and (not is_python or schema_type == "any"):
        return
    # Docs cannot declare null, and in Java and JavaScript ``any`` takes every value.
    if option is None or (not is_python and schema_type == "any"):
        return
    if not conforms_to_schema(option, {"type": schema_type}, language):
        yield f"{format_value(option)} is not of type {schema_type}"
        return
    enum = schema.get("enum")
    if isinstance(enum, list) and enum and not isinstance(option, (list, Mapping)) and option not in enum:
        texts = [standardize(member) for member in enum if isinstance(member, str)]
        if not isinstance(option, str) or standardize(option) not in texts:
            yield f"{format_value(option)} is not in the enum {format_value(enum)}"
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(option, list) and isinstance(items, Mapping):
        for element in option:
            yield from _find_misfits(element, items, language)
    elif isinstance(option, Mapping) and isinstance(properties, Mapping):
        for key, values in option.items():
            member = properties.get(key)
            if isinstance(values, list) and isinstance(member, Mapping):
                fits = [not any(_find_misfits(value, member, language)) for value in values if value != ""]
                if fits and not any(fits) and any(_find_misfits(values, member, language)):
                    declared_type = format_value(member.get("type"))
                    yield f"{key}: {format_value(values)} does not match its type {declared_type}"


@entry_check("refused")
def find_refused_truths(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find ground truths that their own matcher does not accept."""
    if not entry.expectation.is_known or (entry.category.group is Group.MCP and facts.servers is None):
        return
    failures = {
        profile: verdict
        # In reverse, so that the verdict of the first manner stays.
        for judgement in reversed(facts.oracle[entry.id])
        for profile in Profile
        if not isinstance(verdict := judgement.select_profile(profile), Passed)
    }
    # Only the web API itself could show whether the ground truth is right, so this is no flaw.
    if any(isinstance(verdict, NotScored) and verdict.cause == LIVE_ONLY for verdict in failures.values()):
        yield Flaw(HINT, str(failures[Profile.OFFICIAL]), "record the replies of the API")
    elif failures:
        profiles_by_reason: defaultdict[str, list[Profile]] = defaultdict(list)
        for profile, verdict in failures.items():
            profiles_by_reason[str(verdict)].append(profile)
        reasons = [f"{' and '.join(rules)} rules: {why}" for why, rules in profiles_by_reason.items()]
        passing_by_profile = [
            [manner.prompting.mode for manner in MANNERS if _is_answerable(facts, entry, profile, manner)]
            for profile in failures
        ]
        # The worse of both profiles counts.
        passing = min(passing_by_profile, key=len)
        if not passing:
            severity, rest = CERTAIN, "no other accepted answer passes"
        elif len(passing) < len(MANNERS):
            severity, rest = LIKELY, f"an answer passes only in {passing[0]} mode"
        else:
            severity, rest = HINT, "another accepted answer passes"
        yield Flaw(severity, f"{'; '.join(reasons)}; {rest}")


def _is_answerable(facts: SuiteFacts, entry: Entry, profile: Profile, manner: ModelPresentation) -> bool:
    """Tell whether an answer of accepted values passes."""
    verdict = facts.oracle[entry.id][MANNERS.index(manner)].select_profile(profile)
    if isinstance(verdict, Passed):
        return True
    # Each call is tried alone first, where a verdict names the parameter; then all of them together.
    choices = [_choose_values(facts, entry, call, profile, manner) for call in list_expected_calls(entry)]
    calls = tuple(call for call in choices if call)
    if not calls or len(calls) < len(choices):
        return False
    narrow_truth = replace(entry, expectation=ExpectedCalls(calls))
    return isinstance(facts.judge_oracle(entry, narrow_truth, manner).select_profile(profile), Passed)


def _choose_values(
    facts: SuiteFacts, entry: Entry, call: ExpectedCall, profile: Profile, manner: ModelPresentation
) -> ExpectedCall | None:
    """Choose one accepted value for each parameter, such that the call passes by itself."""
    single = expect_only(entry, call)
    options = {name: list(list_options(values)) for name, values in call.accepted.items()}
    # A matcher blames one parameter at a time, so this takes as many tries as there are values, not as many
    # as there are combinations of them.
    place = dict.fromkeys(options, 0)
    while True:
        chosen_values = {name: values[place[name] : place[name] + 1] for name, values in options.items()}
        narrow = ExpectedCall(call.name, chosen_values)
        truth = replace(single, expectation=ExpectedCalls((narrow,)))
        verdict = facts.judge_oracle(single, truth, manner).select_profile(profile)
        if isinstance(verdict, Passed):
            return narrow
        blamed_parameter = verdict.details.get("parameter") if isinstance(verdict, Failed) else None
        # No other value can help: the blamed one has no alternative, or is no parameter.
        if not isinstance(blamed_parameter, str) or place.get(blamed_parameter, 0) + 1 >= len(
            options.get(blamed_parameter, ())
        ):
            return None
        place[blamed_parameter] += 1


@entry_check("uncarried")
def find_broken_sql(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find SQL calls of which no accepted form can be executed, so that answers are compared as written."""
    for call, reason in find_broken_calls(entry):
        yield Flaw(LIKELY, f"{format_value(dict(call.accepted))}: {reason}")


@entry_check("greedy_trap")
def find_greedy_traps(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find right answers that the official greedy matching refuses in one order of their calls.

    Greedy matching gives each expected call the first call that fits. Where one call fits two expected calls
    and another fits only the first of these, the order decides.
    """
    # Official code: ``parallel_function_checker_no_order`` in ``ast_checker.py``.
    calls = list_expected_calls(entry) if expects_several_calls(entry) else ()
    for first, second in combinations(range(len(calls)), 2):
        if calls[first].name != calls[second].name:
            continue
        alone = expect_only(entry, calls[first])
        others = [call for n, call in enumerate(calls) if n not in (first, second)]
        # Judged by the corrected rules, because the official ones are what is being tested.
        fitting_both = [
            call
            for call in _narrow_call(calls[second])
            if isinstance(_judge_calls(facts, alone, (call,)).corrected, Passed)
        ]
        for both, only in product(fitting_both, _narrow_call(calls[first])):
            judgement = _judge_calls(facts, entry, (both, only, *others))
            if isinstance(judgement.corrected, Passed) and isinstance(judgement.official, Failed):
                evidence = (
                    f"{_format_call(both)} also fits the expected call {first + 1}; if it comes before "
                    f"{_format_call(only)}, the answer fails officially: {judgement.official.code}"
                )
                yield Flaw(CERTAIN, evidence)
                return


def _judge_calls(facts: SuiteFacts, entry: Entry, calls: Sequence[ExpectedCall]) -> Judgement:
    answer = replace(entry, expectation=ExpectedCalls(tuple(calls)))
    return facts.judge_oracle(entry, answer, MANNERS[1])


def _narrow_call(call: ExpectedCall) -> Iterator[ExpectedCall]:
    """Yield the call with its first values, then with each other value of one parameter."""
    lists = {name: values for name, values in call.accepted.items() if isinstance(values, list)}
    firsts = {name: values[:1] for name, values in lists.items()}
    yield ExpectedCall(call.name, firsts)
    for name, values in lists.items():
        for value in values[1:]:
            yield ExpectedCall(call.name, {**firsts, name: [value]})


def _format_call(call: ExpectedCall) -> str:
    """Format a narrowed call as a model would make it; ``""`` is a parameter left out."""
    values = {
        name: values[0] for name, values in call.accepted.items() if isinstance(values, list) and values
    }
    listing = ", ".join(f"{name}={format_value(value, 40)}" for name, value in values.items() if value != "")
    return f"{call.name}({listing})"


@entry_check("omitted_default")
def find_defaults_to_give(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find optional parameters that must be given though what must be given is their default."""
    language = entry.category.language
    for parameter in iterate_accepted_values(entry):
        if "" not in parameter.options and is_default(
            language, parameter.doc, parameter.name, parameter.options
        ):
            fault = f"the default of the doc is accepted, {format_value(parameter.schema['default'])}"
            yield Flaw(CERTAIN, f"{parameter.label}: {fault}, and leaving it out is not")


@entry_check("implied_default")
def find_refused_defaults(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find optional parameters whose default is not accepted when it is given."""
    for parameter in iterate_accepted_values(entry):
        default, values = parameter.schema.get("default"), parameter.values
        if not parameter.is_optional or not values or default in (None, ""):
            continue
        # Compared as texts, too: a doc can write a number of the ground truth as a text.
        text = standardize(str(default))
        if not any(value == default or standardize(str(value)) == text for value in values):
            meaning = f"may be omitted, which means {format_value(default)}"
            yield Flaw(LIKELY, f"{parameter.label}: {meaning}, but only {format_value(values)} are accepted")

"""Whether what is accepted can be answered: single-turn entries with possible answers.

Each accepted value is held against the function doc; then the oracle answers, and where its first choice is
refused, every other accepted value is tried too. A matcher blames one parameter at a time, so this takes as
many tries as there are values, not as there are combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import NamedTuple

from pytest_fcbench.domain.conformance import WITH_ELEMENTS, conforms
from pytest_fcbench.domain.entry import Entry, ExpectedCall, ExpectedCalls, Rule
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.domain.prompting import Manner
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.matchers.execution import LIVE_ONLY
from pytest_fcbench.matchers.text_normalization import standardized
from pytest_fcbench.tools.audit.facts import MANNERS, Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Severity, shown
from pytest_fcbench.tools.audit.registry import Problem, check


class Accepted(NamedTuple):
    """The accepted values of one parameter of an expected call."""

    entry: Entry
    doc: FunctionDoc
    name: str
    options: Sequence[object]

    @property
    def schema(self) -> Schema:
        """What the doc declares of the parameter; nothing where it does not have it."""
        schema = self.doc.properties.get(self.name)
        return schema if isinstance(schema, Mapping) else {}

    @property
    def given(self) -> Sequence[object]:
        """The values without the sign that the parameter may be left out."""
        return [option for option in self.options if option != ""]

    @property
    def omissible(self) -> bool:
        """Whether a call without the parameter is right."""
        return "" in self.options and self.name not in self.doc.required

    @property
    def at(self) -> str:
        """Function and parameter."""
        return f"{self.doc.name}.{self.name}"


def expected(entry: Entry) -> Sequence[ExpectedCall]:
    """The calls of a possible answer; none where the truth is of another kind."""
    return entry.expectation.calls if isinstance(entry.expectation, ExpectedCalls) else ()


def accepted(entry: Entry) -> Iterator[Accepted]:
    """Every parameter of every expected call of a known function."""
    for call in expected(entry):
        if doc := entry.function(call.name):
            for name, options in call.accepted.items():
                yield Accepted(entry, doc, name, options if isinstance(options, (list, tuple)) else [options])


@check("uncallable", "the function doc forbids the expected call")
def uncallable(facts: Facts) -> Iterator[Problem]:
    """Expected calls that the function docs do not allow."""
    for entry in facts.entries:
        told = (
            *(_uncallable(entry, call) for call in expected(entry)),
            *map(_unknown_keys, accepted(entry)),
        )
        for severity, evidence in chain.from_iterable(told):
            advice = "correct the expected call or the function doc"
            yield Problem(entry.id, severity, evidence, advice)


def _uncallable(entry: Entry, call: ExpectedCall) -> Iterator[tuple[Severity, str]]:
    doc = entry.function(call.name)
    if doc is None:
        yield CERTAIN, f"{call.name} is expected; offered are {shown([doc.name for doc in entry.functions])}"
        return
    for name in doc.required:
        if name not in call.accepted:
            yield CERTAIN, f"{call.name} requires {name}, for which the truth has no value"
    for name, options in call.accepted.items():
        if name in doc.properties:
            continue
        if isinstance(options, (list, tuple)) and "" in options:
            yield LIKELY, f"{call.name} has no parameter {name}; accepted: {shown(options)}"
        else:
            yield CERTAIN, f"{call.name} has no parameter {name}, but the truth demands {shown(options)}"


def _unknown_keys(item: Accepted) -> Iterator[tuple[Severity, str]]:
    schema = item.schema
    items, language = schema.get("items"), item.entry.category.language
    inner = items if schema.get("type") in WITH_ELEMENTS[language] else schema
    properties = inner.get("properties") if isinstance(inner, Mapping) else None
    if isinstance(properties, Mapping) and properties:
        keys = dict.fromkeys(key for option in item.given for key, _ in _members(option))
        if unknown := [key for key in keys if key not in properties]:
            yield LIKELY, f"{item.at} has no key {', '.join(unknown)}; the keys are {shown(list(properties))}"


@check("malformed", "accepted values are not written as alternatives")
def malformed(facts: Facts) -> Iterator[Problem]:
    """Accepted values that are not written as lists of alternatives, or hold none."""
    advice = "write every alternative, also of a key, into a list"
    for entry in facts.entries:
        for call in expected(entry):
            for name, options in call.accepted.items():
                where = f"{call.name}.{name}"
                if not isinstance(options, (list, tuple)):
                    evidence = f"{where}: {shown(options)} is no list of accepted values"
                    yield Problem(entry.id, CERTAIN, evidence, advice)
        for item in accepted(entry):
            for severity, evidence in _malformed(item):
                yield Problem(entry.id, severity, f"{item.at}: {evidence}", advice)


def _malformed(item: Accepted) -> Iterator[tuple[Severity, str]]:
    if not item.options:
        yield CERTAIN, "no value is accepted, and it must not be left out"
    elif _could_be_elements(item):
        told = "are alternatives; where one array of them is meant, it does not match"
        yield LIKELY, f"{shown(item.given)} {told}"
    elif not item.given and item.name in item.doc.required and item.schema.get("default") != "":
        yield LIKELY, "is required, and only an empty text is accepted"
    elif "" in item.options and item.name in item.doc.required:
        yield HINT, f"is required, so it cannot be left out as {shown(item.options)} says"
    for option in item.given:
        for key, value in _members(option):
            if isinstance(value, str):
                yield CERTAIN, f"{key} accepts {shown(value)}, a text where a list of values belongs"


def _could_be_elements(item: Accepted) -> bool:
    """Whether there are several values, each an array too shallow: elements of one may be meant."""
    declared = _declared_depth(item.entry.category.language, item.schema)
    return len(item.given) > 1 and all(_depth(option) < declared for option in item.given)


def _depth(value: object) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _declared_depth(language: Language, schema: object) -> int:
    if not isinstance(schema, Mapping) or schema.get("type") not in WITH_ELEMENTS[language]:
        return 0
    return 1 + _declared_depth(language, schema.get("items"))


def _members(option: object) -> Iterator[tuple[str, object]]:
    """The members of dicts at the level where official rules want lists of alternatives."""
    for part in option if isinstance(option, list) else [option]:
        if isinstance(part, Mapping):
            yield from ((str(key), value) for key, value in part.items())


@check("mistyped", "accepted values are not what the doc declares")
def mistyped(facts: Facts) -> Iterator[Problem]:
    """Accepted values that are not of the declared type, or not in the enum."""
    for entry in facts.entries:
        for item in accepted(entry):
            wrong = [why for option in item.given if (why := next(misfits(option, item), None))]
            if not wrong:
                continue
            if len(wrong) < len(item.given):
                severity, rest = HINT, "other accepted values fit"
            elif item.omissible:
                severity, rest = LIKELY, "it can only be left out"
            else:
                severity, rest = CERTAIN, "no accepted value fits"
            evidence = f"{item.at}: {wrong[0]}; {rest}"
            advice = "correct the truth, or widen the doc"
            yield Problem(entry.id, severity, evidence, advice)


def misfits(option: object, item: Accepted) -> Iterator[str]:
    """Why an accepted value is not what the doc declares, at any depth; the default is what it declares."""
    if option == item.schema.get("default"):
        return iter(())
    return _misfits(option, item.schema, item.entry.category.language)


def _misfits(option: object, schema: Schema, language: Language) -> Iterator[str]:
    declared = schema.get("type")
    if isinstance(option, str) and (language is not Language.PYTHON or declared == "any"):
        return  # source text: a variable has any type
    if option is None or (language is not Language.PYTHON and declared == "any"):
        return
    if not conforms(option, {"type": declared}, language):
        yield f"{shown(option)} is not of type {declared}"
        return
    yield from _outside_enum(option, schema)
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(option, list) and isinstance(items, Mapping):
        for element in option:
            yield from _misfits(element, items, language)
    elif isinstance(option, Mapping) and isinstance(properties, Mapping):
        for key, values in option.items():
            member = properties.get(key)
            if isinstance(values, list) and isinstance(member, Mapping):
                fits = [not any(_misfits(value, member, language)) for value in values if value != ""]
                if fits and not any(fits) and any(_misfits(values, member, language)):
                    yield f"{key}: {shown(values)} is not what its type {shown(member.get('type'))} takes"


def _outside_enum(option: object, schema: Schema) -> Iterator[str]:
    enum = schema.get("enum")
    if not isinstance(enum, list) or not enum or isinstance(option, (list, Mapping)):
        return
    if isinstance(option, str):
        texts = [standardized(member) for member in enum if isinstance(member, str)]
        if standardized(option) in texts:
            return
    if option not in enum:
        yield f"{shown(option)} is not in the enum {shown(enum)}"


@check("refused", "the matcher refuses the truth itself")
def refused(facts: Facts) -> Iterator[Problem]:
    """Truths that their own matcher does not accept."""
    for entry in facts.entries:
        failed = {
            profile: verdict
            for judgement in reversed(facts.oracle[entry.id])
            for profile in Profile
            if not isinstance(verdict := judgement.under(profile), Passed)
        }
        if any(isinstance(verdict, NotScored) and verdict.cause == LIVE_ONLY for verdict in failed.values()):
            evidence = str(failed[Profile.OFFICIAL])
            yield Problem(entry.id, HINT, evidence, "record what the API answers")
        elif failed:
            hopes = [_hope(facts, entry, profile) for profile in failed]
            severity, rest = min(hopes, key=lambda hope: list(Severity).index(hope[0]))
            reasons = [f"{' and '.join(rules)} rules: {why}" for why, rules in _by_reason(failed).items()]
            advice = "correct the truth, or set the entry aside"
            yield Problem(entry.id, severity, f"{'; '.join(reasons)}; {rest}", advice)


def _by_reason(failed: Mapping[Profile, Verdict]) -> Mapping[str, Sequence[Profile]]:
    reasons: dict[str, list[Profile]] = {}
    for profile, verdict in failed.items():
        reasons.setdefault(str(verdict), []).append(profile)
    return reasons


def _hope(facts: Facts, entry: Entry, profile: Profile) -> tuple[Severity, str]:
    """Whether anything else that is accepted passes."""
    passing = [manner.prompting.mode for manner in MANNERS if _answerable(facts, entry, profile, manner)]
    if not passing:
        return CERTAIN, "nothing else that is accepted passes"
    if len(passing) < len(MANNERS):
        return LIKELY, f"only in {passing[0]} mode something passes"
    return HINT, "another accepted answer passes"


def _answerable(facts: Facts, entry: Entry, profile: Profile, manner: Manner) -> bool:
    """Whether some answer passes that consists of accepted values."""
    verdict = facts.oracle[entry.id][MANNERS.index(manner)].under(profile)
    if isinstance(verdict, Passed):
        return True
    chosen = [_choice(facts, entry, call, profile, manner) for call in expected(entry)]
    calls = tuple(call for call in chosen if call)
    if not calls or len(calls) < len(chosen):
        return False
    whole = replace(entry, expectation=ExpectedCalls(calls))
    return isinstance(facts.answered(entry, whole, manner).under(profile), Passed)


def _choice(
    facts: Facts, entry: Entry, call: ExpectedCall, profile: Profile, manner: Manner
) -> ExpectedCall | None:
    """The call with one accepted value for each parameter, such that it passes by itself."""
    single = _alone(entry, call)
    options = {
        name: list(values) if isinstance(values, (list, tuple)) else [values]
        for name, values in call.accepted.items()
    }
    place = dict.fromkeys(options, 0)
    while True:
        chosen = {name: values[place[name] : place[name] + 1] for name, values in options.items()}
        narrow = ExpectedCall(call.name, chosen)
        truth = replace(single, expectation=ExpectedCalls((narrow,)))
        verdict = facts.answered(single, truth, manner).under(profile)
        if isinstance(verdict, Passed):
            return narrow
        blamed = verdict.details.get("parameter") if isinstance(verdict, Failed) else None
        if not isinstance(blamed, str) or place.get(blamed, 0) + 1 >= len(options.get(blamed, ())):
            return None
        place[blamed] += 1


def _alone(entry: Entry, call: ExpectedCall) -> Entry:
    """The entry as if this call were all that is expected, so that verdicts name a parameter."""
    rule = Rule.SIMPLE if entry.category.rule is Rule.SIMPLE else Rule.MULTIPLE
    return replace(
        entry, category=replace(entry.category, rule=rule), expectation=ExpectedCalls((call,)), tables=()
    )


@check("uncarried", "the SQL of the truth cannot be carried out")
def uncarried(facts: Facts) -> Iterator[Problem]:
    """Calls of SQL of which no accepted form can be carried out, so that answers are compared as written."""
    for entry in facts.entries:
        if entry.category.rule is not Rule.SQL:
            continue
        from pytest_fcbench.matchers.sql import corrected

        for call in expected(entry):
            verdict = corrected.match(entry, call, Call(call.name, {}), Failed("", ""))
            if isinstance(verdict, Failed) and (why := verdict.details.get("not_carried_out")):
                evidence = f"{shown(dict(call.accepted))}: {why}"
                advice = "write a statement that can be carried out"
                yield Problem(entry.id, LIKELY, evidence, advice)


@check("greedy_trap", "greedy matching fails a right answer")
def greedy_traps(facts: Facts) -> Iterator[Problem]:
    """Right answers that the official greedy matching refuses in one order of their calls.

    It gives each expected call the first that fits. Where a call fits two expected ones and another fits only
    the first of these, the order decides.
    """
    for entry in facts.entries:
        if entry.category.rule is Rule.PARALLEL:
            calls = expected(entry)
            pairs = combinations(range(len(calls)), 2)
            same = [(a, b) for a, b in pairs if calls[a].name == calls[b].name]
            yield from islice(filter(None, (_trap(facts, entry, *pair) for pair in same)), 1)


def _trap(facts: Facts, entry: Entry, first: int, second: int) -> Problem | None:
    calls = expected(entry)
    for both in _narrowed(calls[second]):
        if not _fits(facts, entry, calls[first], both):
            continue
        for only in _narrowed(calls[first]):
            others = [call for n, call in enumerate(calls) if n not in (first, second)]
            order = (both, only, *others)
            judgement = _answer(facts, entry, order)
            if isinstance(judgement.corrected, Passed) and isinstance(judgement.official, Failed):
                evidence = (
                    f"{_written(both)} also fits the expected call {first + 1}; ahead of {_written(only)} it "
                    f"makes the answer fail officially: {judgement.official.code}"
                )
                advice = "narrow the accepted values, or put the narrower expected call first"
                return Problem(entry.id, CERTAIN, evidence, advice)
    return None


def _fits(facts: Facts, entry: Entry, wanted: ExpectedCall, made: ExpectedCall) -> bool:
    return isinstance(_answer(facts, _alone(entry, wanted), (made,)).corrected, Passed)


def _answer(facts: Facts, entry: Entry, calls: Sequence[ExpectedCall]) -> Judgement:
    truth = replace(entry, expectation=ExpectedCalls(tuple(calls)))
    return facts.answered(entry, truth, MANNERS[1])


def _narrowed(call: ExpectedCall) -> Iterator[ExpectedCall]:
    """The call with its first values, then with each other value of one parameter."""
    lists = {name: values for name, values in call.accepted.items() if isinstance(values, list)}
    firsts = {name: values[:1] for name, values in lists.items()}
    yield ExpectedCall(call.name, firsts)
    for name, values in lists.items():
        for value in values[1:]:
            yield ExpectedCall(call.name, {**firsts, name: [value]})


def _written(call: ExpectedCall) -> str:
    """A narrowed call as a model would make it; ``""`` is a parameter left out."""
    values = {
        name: values[0] for name, values in call.accepted.items() if isinstance(values, list) and values
    }
    given = ", ".join(f"{name}={shown(value, 40)}" for name, value in values.items() if value != "")
    return f"{call.name}({given})"


@check("implied_default", "what leaving out means is not accepted")
def implied_default(facts: Facts) -> Iterator[Problem]:
    """Parameters that may be left out although their default is not accepted when it is given."""
    for entry in facts.entries:
        for item in accepted(entry):
            default = item.schema.get("default")
            if not item.omissible or not item.given or default in (None, ""):
                continue
            if not any(_alike(option, default) for option in item.given):
                meaning = f"may be left out, which means {shown(default)}"
                evidence = f"{item.at}: {meaning}, but accepted are {shown(item.given)}"
                advice = "accept the default too, or do not let it be left out"
                yield Problem(entry.id, LIKELY, evidence, advice)


def _alike(one: object, other: object) -> bool:
    return one == other or standardized(str(one)) == standardized(str(other))

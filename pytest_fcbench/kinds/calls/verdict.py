"""Judge calls against a possible answer without running them (BFCL's AST evaluation).

One call is expected in the simple and multiple categories, several in any order in the parallel ones.
``official`` gives the verdict of BFCL's ``ast_checker``. This module repairs its known quirks; each
difference is a finding about that checker and the official decoders:

- the answer is read leniently: code fences, tabs, positional arguments, signs, JSON names, f-strings
  (``read_corrected``), all Java and JavaScript calls and literals by their grammar;
- parallel calls are matched as a bipartite graph, so the order of overlapping answers cannot matter;
- numbers are compared by value at any depth (``5.0`` is the integer 5), booleans are never numbers;
- a tuple equals a list; texts are standardized at any depth, variables' names too;
- a text is the same in each form of Unicode, with ASCII's spaces, quotes and hyphens or others;
- dicts may be nested, with accepted values at any level;
- ``""`` and ``[]`` no longer pass for an optional parameter that should be left out or hold a value
  (``""`` does where it is the default, or the only accepted value);
- a constant of Java is the same with its class and without (``TimeUnit.SECONDS``, ``SECONDS``);
- to write out the default that the function's doc declares and to leave the parameter out are the same;
- a free text may be judged: only entries of a team's own suites mark parameters so (``ExpectedCall.judged``),
  and the judge is asked where the verdict depends on it, because all else in the calls is right and a text is
  none of the accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import java, javascript
from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Reading, Unreadable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema, find_element_type
from pytest_fcbench.domain.text import as_mapping, cut_counting
from pytest_fcbench.domain.transcript import Call, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.judging.questions import (
    LONGEST,
    Equivalence,
    JudgeQuestion,
    read_equivalence,
    read_prompt,
    recall_answer,
)
from pytest_fcbench.kinds.calls import official
from pytest_fcbench.kinds.calls.truth import (
    ExpectedCall,
    ExpectedCalls,
    list_expected_calls,
    list_options,
    means_same,
    name_kind,
)
from pytest_fcbench.kinds.kind import find_early_verdict, read_last_answer


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the calls of the last answer as written. ``entry`` must expect calls."""
    if not isinstance(entry.expectation, ExpectedCalls):
        raise TypeError(f"{entry.key} has no expected calls")
    syntax, names, language = transcript.prompting.syntax, transcript.prompting.names, entry.category.language
    official_verdict = official.match_calls(entry, read_official(transcript.last, syntax, language), names)
    if early_verdict := find_early_verdict(entry, transcript):
        return Judgement(official_verdict, early_verdict)
    recall = partial(recall_opinion, entry, transcript)
    try:
        corrected_verdict = match_calls(entry, read_last_answer(entry, transcript), recall)
    except NotScoredError as error:
        return Judgement(official_verdict, NotScored(error.cause, error.reason))
    return Judgement(official_verdict, corrected_verdict)


UNREADABLE = "unreadable"
NO_CALL = "no_call"
SURPLUS = "a further positional argument"
"""The name of an argument that was given by place, where no parameter is left for it."""


JudgeText: TypeAlias = Callable[[ExpectedCall, str, object, Failed], Failed | None]
"""Judges the value of a parameter with free text that is none of the accepted, and failed so."""


def leave_wrong(expected_call: ExpectedCall, parameter: str, value: object, failure: Failed) -> Failed:
    """Return the failure unchanged: without a judge a free text has to be an accepted one."""
    return failure


def match_calls(entry: Entry, reading: Reading, judge_text: JudgeText = leave_wrong) -> Verdict:
    """Return the corrected verdict on a reading of the answer. ``entry`` must expect calls."""
    if not isinstance(reading, Calls):
        return fail_without_calls(reading)
    calls, expected_calls = reading.calls, list_expected_calls(entry)
    if len(calls) != len(expected_calls):
        return official.fail_wrong_count("wrong_count", expected_calls, calls)
    pairing = pair_calls(entry, expected_calls, calls, judge_text)
    for place, misses in pairing.misses.items():
        # With one call on each side the failure itself says more than that nothing matches.
        if len(expected_calls) == 1:
            return misses[0]
        return official.fail_unmatched("cannot_find_match", place, expected_calls[place], misses)
    return Passed()


def pair_calls(
    entry: Entry,
    expected_calls: Sequence[ExpectedCall],
    calls: Sequence[Call],
    judge_text: JudgeText = leave_wrong,
) -> official.CallPairing:
    """Pair as many expected calls as possible with calls that fit."""
    verdicts = [[match_call(entry, each, call, judge_text) for call in calls] for each in expected_calls]
    partners = match_rows([[isinstance(verdict, Passed) for verdict in row] for row in verdicts])
    misses = {
        place: {at: verdict for at, verdict in enumerate(row) if isinstance(verdict, Failed)}
        for place, row in enumerate(verdicts)
        if place not in partners
    }
    return official.CallPairing(partners, misses)


def fail_without_calls(reading: Prose | Unreadable) -> Failed:
    """Fail an answer that calls nothing, or whose calls cannot be read."""
    if isinstance(reading, Unreadable):
        return Failed(UNREADABLE, f"the answer tries to call but cannot be read: {reading.reason}")
    return Failed(NO_CALL, f"the answer calls nothing: {official.show_value(reading.text)}")


def match_rows(fits: Sequence[Sequence[bool]]) -> Mapping[int, int]:
    """Return a largest matching of rows to columns, by row.

    Augmenting paths (Kuhn); rows and columns are few, one per call.
    """
    row_of: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in row_of or place(row_of[column], tried):
                    row_of[column] = row
                    return True
        return False

    for row in range(len(fits)):
        place(row, set())
    return {row: column for column, row in row_of.items()}


def find_unmatched_row(fits: Sequence[Sequence[bool]]) -> int | None:
    """Return the first row left over by a largest matching of rows to columns, or None."""
    matching = match_rows(fits)
    return next((row for row in range(len(fits)) if row not in matching), None)


def match_call(
    entry: Entry, expected_call: ExpectedCall, call: Call, judge_text: JudgeText = leave_wrong
) -> Passed | Failed:
    """Compare a call with an expected one; the first check that fails gives the code."""
    return next(find_faults(entry, expected_call, call, judge_text), Passed())


def find_faults(
    entry: Entry, expected_call: ExpectedCall, call: Call, judge_text: JudgeText = leave_wrong
) -> Iterator[Failed]:
    """Find what keeps a call from being an expected one, in the order of the checks."""
    doc = entry.find_function(expected_call.name)
    if doc is None:
        yield Failed("unclear", f"{expected_call.name} is not among the entry's functions")
        return
    if call.name != doc.name:
        yield official.fail_wrong_name(doc.name, call)
        return
    if call.positional:
        yield official.fail_unexpected(doc, SURPLUS, call.positional[0])
    language = entry.category.language
    missing_names = (name for name in doc.required if name not in call.arguments)
    yield from (official.fail_missing_required(doc, name) for name in missing_names)
    for name, value in call.arguments.items():
        # "" among the accepted values allows to leave a parameter out, and then to give its default.
        may_be_left_out = "" in list_options(expected_call.accepted.get(name, ""))
        if may_be_left_out and is_default(language, doc, name, [value]):
            continue
        if name not in doc.properties or name not in expected_call.accepted:
            yield official.fail_unexpected(doc, name, value)
            continue
        failure = match_value(language, doc, name, value, expected_call.accepted[name])
        if failure and name in expected_call.judged:
            failure = judge_text(expected_call, name, value, failure)
        if failure:
            yield failure
    for name, accepted_values in expected_call.accepted.items():
        options = list_options(accepted_values)
        if name not in call.arguments and not ("" in options or is_default(language, doc, name, options)):
            yield official.fail_missing_optional(doc, name, accepted_values)


def is_default(language: Language, doc: FunctionDoc, name: str, values: Sequence[object]) -> bool:
    """Tell whether one of the values is the default that the doc declares for an optional parameter."""
    # Converted schemas leave out a default of null, which servers declare for what may be left out.
    given_schema = as_mapping(as_mapping(as_mapping(doc.given).get("properties")).get(name))
    schema = {**given_schema, **doc.properties.get(name, {})}
    if "default" not in schema or name in doc.required:
        return False
    default_readings = _list_readings(language, schema, schema["default"])
    return any(
        means_same(default, reading)
        for value in values
        for reading in _list_readings(language, schema, value)
        for default in default_readings
    )


def match_value(
    language: Language, doc: FunctionDoc, name: str, value: object, accepted_values: object
) -> Failed | None:
    """Compare the value of a parameter with the accepted ones; return None where it is one of them."""
    all_options = list_options(accepted_values)
    # "" mostly says that a parameter may be left out; here it can be a value.
    literal_empty = doc.properties[name].get("default") == "" or all(option == "" for option in all_options)
    options = [option for option in all_options if option != "" or literal_empty]
    # Java and JavaScript values come as source text; any reading of it may be right.
    if language is not Language.PYTHON and not isinstance(value, str):
        return official.fail_wrong_value(official.NO_SOURCE_TEXT[language], doc, name, value, options)
    candidates = _list_readings(language, doc.properties[name], value)
    if language is Language.JAVA and doc.properties[name].get("type") != "String":
        # A static import brings constants without their class.
        for values in (options, candidates):
            matches = [_CONSTANT.fullmatch(each) for each in values if isinstance(each, str)]
            values += [constant[1] for constant in matches if constant]
    if any(means_same(option, candidate) for option in options for candidate in candidates):
        return None
    shared_kinds = set(map(name_kind, options)) & set(map(name_kind, candidates))
    code = f"value_error:{shared_kinds.pop()}" if len(shared_kinds) == 1 else "type_error:simple"
    return official.fail_wrong_value(code, doc, name, value, options)


_CONSTANT = re.compile(r"(?:[A-Za-z_]\w*\.)+([A-Z][A-Z0-9_]*)")


def _list_readings(language: Language, schema: Schema, value: object) -> list[object]:
    """List the values that a value can mean: itself, and in Java and JavaScript what it is as source text.

    Source text is read by the grammar and by the official patterns. Text inside a string literal is read
    once more: some models quote the whole expression.
    """
    if language is Language.PYTHON or not isinstance(value, str):
        return [value]
    read, by_pattern = _READERS[language], official.OFFICIAL_READERS[language]
    kind, element = str(schema.get("type")), find_element_type(language, schema)
    inner = read(value)
    texts = [value] if inner == value or not isinstance(inner, str) else [value, inner]
    return [reading for t in texts for reading in (t, read(t), by_pattern(t, kind, element))]


_READERS = {Language.JAVA: java.parse_literal, Language.JAVASCRIPT: javascript.parse_literal}

_FREE_TEXT = read_prompt("free_text")
_MOST_SAID = 20
"""The last messages of a conversation that a judge is shown."""
_cut_text = partial(cut_counting, longest=LONGEST)


def ask_same_text(
    entry: Entry, expected_call: ExpectedCall, parameter: str, text: str
) -> JudgeQuestion[Equivalence]:
    """Ask whether a text says the same as an accepted one."""
    doc, options = entry.find_function(expected_call.name), list_options(expected_call.accepted[parameter])
    messages = [message for turn in entry.turns for message in turn][-_MOST_SAID:]
    material = {
        "function": {"name": expected_call.name, "description": doc.description if doc else ""},
        "parameter": {"name": parameter, "doc": dict(doc.properties[parameter]) if doc else {}},
        "conversation": [{"role": each.role, "text": _cut_text(each.shown_text)} for each in messages],
        "text that was given": _cut_text(text),
        "texts that are right": [_cut_text(str(option)) for option in options if option],
    }
    return JudgeQuestion(entry, _FREE_TEXT, material, read_equivalence)


def find_open_questions(entry: Entry, transcript: Transcript) -> Sequence[JudgeQuestion[Equivalence]]:
    """Return the questions that the corrected verdict depends on; none where rules decide it."""
    if find_early_verdict(entry, transcript):
        return []
    reading = read_last_answer(entry, transcript)
    # A judge costs time and money, and an accepted text needs none.
    if isinstance(match_calls(entry, reading), Passed):
        return []
    questions: dict[str, JudgeQuestion[Equivalence]] = {}

    def assume_same(call: ExpectedCall, parameter: str, value: object, failure: Failed) -> Failed | None:
        if not isinstance(value, str):
            return failure
        question = ask_same_text(entry, call, parameter, value)
        # Parallel calls are compared each with each, so that a question can come up twice.
        questions[repr(question.material)] = question
        return None

    verdict = match_calls(entry, reading, assume_same)
    return list(questions.values()) if isinstance(verdict, Passed) else []


def recall_opinion(
    entry: Entry,
    transcript: Transcript,
    expected_call: ExpectedCall,
    parameter: str,
    value: object,
    failure: Failed,
) -> Failed | None:
    """Return how a text fails by the opinion of the judge; None where it says the same.

    Raises ``NotScoredError`` where the judge was asked and gave no opinion.
    """
    # In conversations of this kind only a judge is asked beside the model.
    if not isinstance(value, str) or not transcript.asides:
        return failure
    opinion = recall_answer(ask_same_text(entry, expected_call, parameter, value), transcript.asides)
    if isinstance(opinion, NotScored):
        raise NotScoredError("judge", f"the judge gave no opinion on {parameter}: {opinion.reason}")
    return None if opinion.same else replace(failure, reason=f"{failure.reason}; the judge: {opinion.reason}")

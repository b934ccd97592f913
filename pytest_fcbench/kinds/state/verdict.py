"""Judge multi-turn entries by the effects of their calls (BFCL's ``multi_turn_checker``).

The calls of the conversation are carried out once more in fresh environments, and those of the ground
truth in others. After each turn in which the truth makes calls, the model

- must have made a call in that turn (``multi_turn:empty_turn_model_response``),
- must have left every environment in the same state (``multi_turn:instance_state_mismatch``),
- must have got, in this turn or before, everything that the truth's calls of this turn returned, as often
  (``multi_turn:execution_response_mismatch``).

A conversation that was ended by force has too few turns (``multi_turn:force_terminated``); an answer that
is an error of the call has none (``multi_turn:inference_error``).

The corrected profile differs in this:

- In a turn in which the truth makes no call, one that needs what is withheld, or invents it, fails
  (``multi_turn:irrelevance_error:decoder_success``, which the official code has and never
  asks for). So does an answer that ends with one that cannot be read
  (``multi_turn:irrelevance_error:unreadable_call``).
- How far the brake pedal is pressed is compared too (``multi_turn:hidden_state_mismatch``), which a user can
  ask for and the official comparison forgets. What else it forgets, no user asks for: the current folder, the
  force of the parking brake, the slope. In 8,000 conversations of 13 models these differed in 11 that passed
  officially, none of which had a mistake.
- A user who is mentioned in a tweet shows in that tweet only. Officially all tweets that are posted without
  mentions share one list, those of the truth too, so that one mention too many makes no difference.
- Results of calls are compared by value where they are JSON, so that 3 is 3.0; a text in a state or a
  result is the same in each form of Unicode (``text_normalization``).
- Text stays text: the official executor rewrites everything that looks like a function's name before a
  bracket, also inside strings, so that a model that writes ``ls()`` into a file never has the truth's file.
- A request that outgrew the model's context fails under a code of its own (``context_overflow``).

A turn whose function or value is withheld until a later one: the model may do what can be done, look around,
log in, do the part of the task that needs nothing withheld. A call is a mistake only in these cases:

- Where a function is withheld, a call of a function that is not offered yet.
- Where the request is withheld, every change of the state. A request is withheld if the user's message shares
  no word with any value in the task, which is the truth's next calls.
- Where a value is withheld, a call that has a value in its place: any if the turn changed the state, else one
  that stands nowhere in the conversation so far. Calls with several such values are a search, no mistake.

A value is withheld if the message that completes the task contains it and the user's message does not. Some
messages describe a value instead ("the last one"). If one contains no value of the task, every text is
withheld that is not in the conversation, at least in part in the user's message or the turn's results.

A call that returns an error has done nothing. Whatever else a turn changes is judged at the end of the next
turn, because the states must be equal then.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Undecodable, Unreadable
from pytest_fcbench.codecs.python_syntax import parse_expression, write_expression
from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.explanation import StateDifference
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Fault, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed, Profile, Verdict
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.judging.text_normalization import find_differences, unify_forms, unify_texts
from pytest_fcbench.judging.words import NUMBERS
from pytest_fcbench.kinds.kind import find_unscored_cause, judge_fault

Fresh: TypeAlias = Callable[[Entry], Environments]
"""Makes the environments of an entry in their initial state."""

_SHOWN = 3
"""Differences that a verdict names; the number of the others follows."""


def judge(entry: Entry, transcript: Transcript, fresh: Fresh) -> Judgement:
    """Judge a conversation by what its calls changed and returned. ``entry`` must have a trajectory."""
    if not isinstance(entry.expectation, Trajectory):
        raise TypeError(f"{entry.key} has no trajectory")
    truth = entry.expectation
    unscored_cause = find_unscored_cause(entry, transcript)
    if transcript.last.fault is Fault.OTHER_TURNS:
        reason = f"the result has another number of turns than the entry, which has {len(entry.turns)}"
        failure = Failed("multi_turn:force_terminated", reason, {"turn": len(transcript.turns)})
        failure = count_right_turns(failure, 0, len(entry.turns))
        return Judgement(failure, unscored_cause or failure)
    if transcript.last.fault:
        error = Failed("multi_turn:inference_error", f"the model's call failed: {transcript.last.text}")
        both = error, judge_fault(transcript.last) or error
        in_official, in_corrected = (count_right_turns(each, 0, len(entry.turns)) for each in both)
        return Judgement(in_official, unscored_cause or in_corrected)
    made_calls = list_calls(transcript)
    official = match_calls(entry, made_calls, lambda: fresh(entry), Profile.OFFICIAL)
    if unscored_cause:
        return Judgement(official, unscored_cause)
    corrected = match_calls(entry, made_calls, lambda: fresh(entry), Profile.CORRECTED)
    if corrected.passed:
        return Judgement(official, _judge_early_attempts(entry, truth, transcript))
    return Judgement(official, corrected)


TurnCalls: TypeAlias = Sequence[Sequence[Sequence[str]]]
"""Calls by turn and step; a step without calls is left out."""


def list_calls(transcript: Transcript) -> TurnCalls:
    """Return the calls that a conversation carried out."""
    return [[step.calls for step in turn if step.calls] for turn in transcript.turns]


def match_calls(
    entry: Entry, made_calls: TurnCalls, fresh: Callable[[], Environments], profile: Profile
) -> Passed | Failed:
    """Judge calls turn by turn. The first failure is the verdict; its details count the turns without one.

    ``entry`` must have a trajectory.
    """
    assert isinstance(entry.expectation, Trajectory)
    failures = list(_find_failures(entry, entry.expectation, made_calls, fresh, profile))
    return choose_first_failure(failures, len(made_calls), len(entry.expectation.turns))


def choose_first_failure(failures: Sequence[Failed], played: int, turns: int) -> Passed | Failed:
    """Return the verdict on a conversation of so many turns that were played, given all failures in them."""
    right_count = min(played, turns) - len({failure.details["turn"] for failure in failures})
    if played != turns:
        # Officially all turns after the 21st step of one are dropped.
        reason = f"the conversation has {played} of {turns} turns, so it was ended by force"
        failures = [Failed("multi_turn:force_terminated", reason, {"turn": played})]
    return count_right_turns(failures[0], right_count, turns) if failures else Passed()


def count_right_turns(failure: Failed, right: int, turns: int) -> Failed:
    """Add to a failure how many turns of the conversation were right, of how many."""
    return replace(failure, details={**failure.details, "right_turns": right, "turns": turns})


def _find_failures(
    entry: Entry,
    truth: Trajectory,
    made_calls: TurnCalls,
    fresh: Callable[[], Environments],
    profile: Profile,
) -> Iterator[Failed]:
    """Yield what is wrong, turn by turn, where each turn continues in what the turns before it left."""
    is_corrected = profile is Profile.CORRECTED
    normalize: Callable[[str], object] = _normalize_result if is_corrected else str
    # Results add up over the turns: officially those of the truth may have come in any earlier turn.
    results: Counter[object] = Counter()
    before: list[str] = []
    played_turns = play_turns(truth, made_calls, fresh, profile)
    for steps, expected_calls, turn in zip(made_calls, truth.turns, played_turns, strict=False):
        number, calls, turn_results = turn.number, [*chain(*steps)], [*chain(*turn.results)]
        results.update(map(normalize, turn_results))
        # The official checker of such turns exists but is never called (eval_runner.py:13).
        if is_corrected and calls and not expected_calls:
            mistake = find_early_call(
                entry,
                number,
                [*zip(calls, turn_results, strict=True)],
                {doc.name for doc in list_offered_docs(entry, number - 1)},
                before,
                changed=_find_difference(number, turn.model, turn.right, corrected=True) is not None,
            )
            if mistake:
                reason = f"turn {number}: no call is expected yet, but the model called {_list_calls(calls)}"
                details = {"turn": number, "calls": calls}
                code = "multi_turn:irrelevance_error:decoder_success"
                yield Failed(code, f"{reason}, {mistake}", details)
        before += turn_results
        if not expected_calls:
            continue
        # The official check takes one step without calls for none, but not several.
        if len(steps) < 2 and not any(steps):
            reason = f"turn {number}: no call was made; the truth makes {_list_calls(expected_calls)}"
            yield Failed("multi_turn:empty_turn_model_response", reason, {"turn": number})
            continue
        # Official order: state_checker before response_checker; the first failure gives the code.
        if failure := _find_difference(number, turn.model, turn.right, corrected=is_corrected):
            yield failure
            continue
        missing = Counter(map(normalize, turn.returned)) - results
        # Extra results are no mistake: looking around is allowed as long as the state agrees.
        if missing:
            truth_results = zip(expected_calls, turn.returned, strict=True)
            call, result = next((call, text) for call, text in truth_results if normalize(text) in missing)
            more = f" (and {missing.total() - 1} more)" if missing.total() > 1 else ""
            reason = f"turn {number}: no call returned what {call:.120} returns: {result:.200}{more}"
            details = {"turn": number, "call": call, "expected": result}
            yield Failed("multi_turn:execution_response_mismatch", reason, details)


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn after the model's calls and those of the truth were carried out."""

    number: int
    """The number of the turn, from 1 on."""
    results: tuple[tuple[str, ...], ...]
    """The results of the model's calls, step by step."""
    returned: tuple[str, ...]
    """The results of the truth's calls."""
    model: Environments
    """The environments after the model's calls; the next turn continues in them."""
    right: Environments


def play_turns(
    truth: Trajectory, made_calls: TurnCalls, fresh: Callable[[], Environments], profile: Profile
) -> Iterator[PlayedTurn]:
    """Carry out calls turn by turn as a profile does, for the turns that both have."""
    model, right = fresh(), fresh()
    is_official = profile is Profile.OFFICIAL
    if is_official:
        for name, environment in model.by_domain.items():
            environment.share_defaults(right.by_domain[name])

    def perform_step(step: Sequence[str]) -> tuple[str, ...]:
        texts = [_rewrite_call(call, model.functions) for call in step] if is_official else step
        return model.perform_calls(texts)

    for number, (steps, expected_calls) in enumerate(zip(made_calls, truth.turns, strict=False), 1):
        results = tuple(map(perform_step, steps))
        yield PlayedTurn(number, results, right.perform_calls(expected_calls), model, right)


def _judge_early_attempts(entry: Entry, truth: Trajectory, transcript: Transcript) -> Verdict:
    """Fail an unreadable attempt to call in a turn in which nothing can be called."""
    for number, (turn, expected_calls) in enumerate(zip(transcript.turns, truth.turns, strict=True), 1):
        offer = OfferedFunctions(list_offered_docs(entry, number - 1), transcript.prompting.names)
        for step in () if expected_calls else turn:
            # Words in a paragraph of their own after calls that cannot be read tell the user what is missing.
            text = step.completion.text and step.completion.text.rstrip().rpartition("\n\n")[2]
            completion, syntax = replace(step.completion, text=text), transcript.prompting.syntax
            reading = read_corrected(completion, syntax, entry.category.language, offer)
            if isinstance(reading, Unreadable):
                reason = f"turn {number}: nothing can be called yet, but the model tried: {reading.reason}"
                failure = Failed("multi_turn:irrelevance_error:unreadable_call", reason, {"turn": number})
                return count_right_turns(failure, len(truth.turns) - 1, len(truth.turns))
    return Passed()


def list_offered_docs(entry: Entry, turn: int) -> tuple[FunctionDoc, ...]:
    """Return the functions that can be called in a turn, by its index."""
    late = (doc for at, docs in entry.late_functions.items() if at <= turn for doc in docs)
    return (*entry.functions, *late)


def _find_difference(
    number: int, model: Environments, right: Environments, *, corrected: bool
) -> Failed | None:
    """Find where the environments differ after a turn."""
    pairs = [(environment, right.by_domain[name]) for name, environment in model.by_domain.items()]
    if any(found.state() != expected.state() for found, expected in pairs):
        code = "multi_turn:instance_state_mismatch"
    # Official: attributes that begin with an underscore are not compared.
    elif corrected and any(_get_pedal(found) != _get_pedal(expected) for found, expected in pairs):
        code = "multi_turn:hidden_state_mismatch"
    else:
        return None
    states = _show(right), _show(model)
    differences = list(find_differences(*states))
    if corrected and differences:
        differences = list(find_differences(unify_texts(states[0]), unify_texts(states[1])))
        if not differences:
            return None
    return fail_differences(code, number, differences)


def fail_differences(code: str, number: int, differences: Sequence[StateDifference]) -> Failed:
    """Fail a turn after which states differ; the first differences are named."""
    more = f" (and {len(differences) - _SHOWN} more)" if len(differences) > _SHOWN else ""
    summary = "; ".join(map(str, differences[:_SHOWN])) or "the states differ"
    details = {"turn": number, "differences": [*map(asdict, differences[:_SHOWN])]}
    return Failed(code, f"turn {number}: {summary}{more}", details)


def _get_pedal(environment: Environment) -> object:
    return environment.get_hidden_state().get("brakePedalForce")


def _show(environments: Environments) -> dict[str, object]:
    return {name: environment.get_full_state() for name, environment in environments.by_domain.items()}


def _list_calls(calls: Iterable[str]) -> str:
    return ", ".join(f"{call:.80}" for call in calls)


def _normalize_result(text: str) -> object:
    """Convert a result to the form that is compared: JSON by its value, hashable."""
    try:
        return _make_hashable(unify_texts(read_json_text(text)))
    except (ValueError, RecursionError):
        return unify_forms(text)


def _make_hashable(value: object) -> object:
    # Marked by their kind, because True == 1, and an object of pairs could equal a list of them.
    if isinstance(value, dict):
        return "dict", frozenset((key, _make_hashable(member)) for key, member in value.items())
    if isinstance(value, list):
        return "list", tuple(map(_make_hashable, value))
    return ("bool", value) if isinstance(value, bool) else value


def _rewrite_call(call: str, functions: Sequence[str]) -> str:
    """Rewrite a call as the official executor does: function names in its strings get a prefix."""
    names = re.compile(rf"\b({'|'.join(functions)})\s*(?=\()")
    # The only name in front of a parenthesis is the function itself, so nothing changes.
    if sum(1 for _ in names.finditer(call)) < 2:
        return call
    try:
        tree = parse_expression(call.lstrip(" \t"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = names.sub(r"instance.\1", node.value)
        return write_expression(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return call


_Words: TypeAlias = frozenset[str]
"""The words of a text or of a value, in lower case."""


def find_early_call(
    entry: Entry,
    number: int,
    made_calls: Sequence[tuple[str, str]],
    offered_names: Collection[str],
    earlier_results: Sequence[str],
    *,
    changed: bool,
) -> str | None:
    """Describe the first mistake among the calls of a turn in which the truth makes none, or return None.

    ``made_calls`` are the calls of turn ``number``, from 1 on, with their results, and ``earlier_results`` is
    what calls returned in the turns before. ``changed`` tells whether the turn left another
    state than the truth.
    """
    assert isinstance(entry.expectation, Trajectory)
    for call, result in made_calls:
        if _name_function(call) not in offered_names and not is_error(result):
            return f"and the function of {call:.80} is not offered yet"
    if number in entry.late_functions:
        return None
    # The turn that completes the task is the next one with calls; two turns in a row can withhold something.
    later = entry.expectation.turns[number:]
    gap = next((index for index, calls in enumerate(later) if calls), len(later))
    task = [(_name_function(call), _read_values(call)) for call in chain(*later[gap : gap + 1])]
    values = frozenset(chain.from_iterable(each for _, each in task))
    earlier_words, turn_words, later_words = (
        _split_words(" ".join(message.content for turn in entry.turns[start:end] for message in turn))
        for start, end in ((0, number - 1), (number - 1, number), (number, number + gap + 1))
    )
    if changed and not any(value & turn_words for value in values):
        return "which changed the state though the user had given no value for it"
    later_values = {value for value in values if value <= later_words}
    known_words, recent = earlier_words | turn_words | _split_words(" ".join(earlier_results)), turn_words
    guesses: dict[str, dict[frozenset[_Words], str]] = {}
    for call, result in made_calls:
        withheld_values = (
            {value for value in later_values if not value <= turn_words}
            if later_values
            else {
                value
                for value in values
                if any(map(str.isalpha, "".join(value))) and not (value <= known_words and value & recent)
            }
        )
        name = _name_function(call)
        task_values = [each for function, each in task if function == name]
        if not is_error(result) and any(each & withheld_values for each in task_values):
            guessed_values = _read_values(call).difference(*(each - withheld_values for each in task_values))
            if guessed_values and (changed or not frozenset(chain(*guessed_values)) <= known_words):
                guesses.setdefault(name, {})[guessed_values] = call
        known_words, recent = known_words | _split_words(result), recent | _split_words(result)
    for calls in guesses.values():
        if changed or len(calls) == 1:
            return f"where {next(iter(calls.values())):.80} has a value that the user has not given"
    return None


def _name_function(call: str) -> str:
    return call.partition("(")[0].strip()


_ERROR = re.compile(r"Error( during execution)?: |Error executing tool |\['Error: |\[\{'error': ")
"""The beginning of an error: ours, the official executor's, that of the SDK of MCP, and those in lists."""


def is_error(result: str) -> bool:
    """Tell whether the result of a call is an error."""
    try:
        value = read_json_text(result)
    except (ValueError, RecursionError):
        return _ERROR.match(result) is not None
    return isinstance(value, dict) and value.get("error") is not None


def _read_values(call: str) -> frozenset[_Words]:
    """Return the words of each value in a call, also of those in lists, without values that have no words."""
    try:
        calls = python.parse_corrected(call)
    except Undecodable:
        return frozenset()
    values = [value for each in calls for value in (*each.positional, *each.arguments.values())]
    word_sets = set()
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, (list, tuple)):
            values += value
        # Nobody says True or None.
        elif value is not None and not isinstance(value, bool):
            word_sets.add(_split_words(str(value)))
    return frozenset(word_sets - {frozenset()})


def _split_words(text: str) -> _Words:
    """Return the words of a text; numbers in digits, without marks of thousands and zeros at their end."""
    words = re.findall(r"\d+\.\d+|\w+", re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower()))
    numbers = (word.rstrip("0").rstrip(".") if "." in word else word for word in words)
    return frozenset(str(NUMBERS.get(word, word)) for word in numbers)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Functions without which a turn cannot be answered."""

    turn: int
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trajectory(Expectation):
    """Calls that serve the requests, turn by turn, as Python text (``cd(folder='docs')``).

    In an empty turn nothing can be called yet: a function or a value is missing.
    """

    turns: tuple[tuple[str, ...], ...]
    withheld: Withheld | None = None
    """Functions that come late in an entry about missing functions that is made of this one."""


def list_expected_turns(entry: Entry) -> Sequence[Sequence[str]]:
    """List the calls that each turn of an entry needs; none where its right answer is something else."""
    return entry.expectation.turns if isinstance(entry.expectation, Trajectory) else ()

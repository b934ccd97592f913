"""Answers as kinds need them: their form in official files, and the classes of failed ones.

The first class in the order of ``AnswerClass`` that applies decides, found from the verdict's code and the
calls without a judge. Whether an answer calls at all, and which calls it makes, is read by the rules of the
profile; calls that only the lenient reading finds are unreadable officially. What is wrong with calls that
could be right is for the kind to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Undecodable, Unreadable, from_json
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import AnswerClass, Divergence, FailedEntry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, Ending, Fault, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile

OfficialRow: TypeAlias = dict[str, object]
"""The fields of a line in a score file, in order, without those that name the answer."""


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """An entry with its transcript and its fields in the official files."""

    entry: Entry
    transcript: Transcript
    result: object
    """The result in its row of the result file."""
    prompt: Mapping[str, object]
    possible_answer: object

    def read_calls(self) -> Calls | Unreadable:
        """Read the calls of the last answer by the official rules."""
        syntax, language = self.transcript.prompting.syntax, self.entry.category.language
        return read_official(self.transcript.last, syntax, language)

    def format_calls(self, reading: Calls) -> list[object]:
        """Format calls as ``{name: {parameter: value}}``; in a text a nameless argument is ``null``."""
        is_text = self.transcript.prompting.syntax.startswith(("python", "verbose_xml"))
        names = {"**": "null"} if is_text else {}
        return [
            {call.name: {names.get(name, name): value for name, value in call.arguments.items()}}
            for call in reading.calls
        ]

    def describe_conversation(
        self, error: Mapping[str, object], prompt: object, results: Mapping[str, object]
    ) -> OfficialRow:
        """Describe a conversation that failed, with its results in the words of its error."""
        ending = {"possible_answer": self.possible_answer, "inference_log": ""}
        return {"error": error, "prompt": prompt, **results, **ending}

    def show_misdecoded(self) -> object:
        """Show a result that does not decode to calls: arguments that are no object, or a text."""
        calls = [part for part in self.transcript.last.tool_calls or () if isinstance(part, ToolCall)]
        if not calls:
            return {} if self.entry.category.language is Language.JAVA else None
        pairs = ((each.name, each.arguments) for each in calls)
        return [{name: from_json(value) if isinstance(value, str) else value} for name, value in pairs]


Compare: TypeAlias = Callable[[Sequence[Call], Names], Divergence]
"""Finds what is wrong with calls in the right number, whose functions are offered under these names."""

_FAULTS: Mapping[Fault | None, AnswerClass] = {
    Fault.OVERFLOW: AnswerClass.CONTEXT_OVERFLOW,
    Fault.INFERENCE_ERROR: AnswerClass.INFERENCE_ERROR,
    Fault.TOO_LARGE: AnswerClass.UNFINISHED_ANSWER,
    Fault.UNREADABLE_CALL: AnswerClass.UNREADABLE_CALL,
}
_CODES = {
    "simple_function_checker:wrong_func_name": AnswerClass.WRONG_FUNCTION,
    "simple_function_checker:missing_required": AnswerClass.MISSING_ARGUMENT,
    "simple_function_checker:missing_optional": AnswerClass.MISSING_ARGUMENT,
    "simple_function_checker:unexpected_param": AnswerClass.INVENTED_ARGUMENT,
}
"""The class of a call by the code of its verdict."""
_BEGINNINGS = {
    "type_error:": AnswerClass.WRONG_TYPE,
    "value_error:": AnswerClass.WRONG_ARGUMENT,
    "dict_checker:": AnswerClass.WRONG_ARGUMENT,
    "list_dict_checker:": AnswerClass.WRONG_ARGUMENT,
    "sql:": AnswerClass.WRONG_RESULT,
}
"""The class of a call by the beginning of its code."""


def classify_answer(
    failure: FailedEntry, count: int | None = None, compare: Compare | None = None
) -> Divergence:
    """Find the class of an answer that should make ``count`` calls; without ``compare`` its code decides."""
    entry, transcript, answer = failure.entry, failure.transcript, failure.transcript.last
    if answer.fault in _FAULTS:
        return Divergence(_FAULTS[answer.fault])
    if answer.ending in (Ending.CUT, Ending.FILTERED):
        return Divergence(AnswerClass.UNFINISHED_ANSWER)
    reading = _read_answer(failure)
    if isinstance(reading, Unreadable):
        return Divergence(AnswerClass.UNREADABLE_CALL)
    if isinstance(reading, Prose) or not reading.calls:
        expects_call = entry.judged_category.expects_calls or entry.expectation.takes_any_call
        return Divergence(AnswerClass.NO_CALL if expects_call else AnswerClass.UNEXPLAINED)
    if entry.expectation.forbids_calls:
        return Divergence(AnswerClass.UNWANTED_CALL)
    # Corrected calls have the names of the docs.
    names = transcript.prompting.names if failure.profile is Profile.OFFICIAL else Names.DOTTED
    number = len(reading.calls)
    if not {call.name for call in reading.calls} <= {names.show_name(doc.name) for doc in entry.functions}:
        return Divergence(AnswerClass.UNKNOWN_FUNCTION)
    if count not in (None, number):
        return Divergence(AnswerClass.MISSING_CALL if number < count else AnswerClass.EXTRA_CALL)
    return compare(reading.calls, names) if compare else classify_code(failure.verdict)


def classify_code(verdict: Failed) -> Divergence:
    """Find the class of a failed call by the code of its verdict."""
    beginnings = (each for begin, each in _BEGINNINGS.items() if verdict.code.startswith(begin))
    answer_class = _CODES.get(verdict.code) or next(beginnings, AnswerClass.UNEXPLAINED)
    parameter = verdict.details.get("parameter")
    return Divergence(answer_class, parameter=parameter if isinstance(parameter, str) else None)


def _read_answer(failure: FailedEntry) -> Calls | Prose | Unreadable:
    """Read an answer by a profile; officially unreadable text is prose unless it tries to call."""
    entry, transcript = failure.entry, failure.transcript
    syntax, language = transcript.prompting.syntax, entry.category.language
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    lenient = read_corrected(transcript.last, syntax, language, offer)
    if failure.profile is Profile.CORRECTED:
        return lenient
    strict = read_official(transcript.last, syntax, language)
    if isinstance(strict, Unreadable) and (isinstance(lenient, Prose) or lenient == Calls(())):
        return lenient
    return strict


def parse_calls(
    entry: Entry,
    steps: Sequence[Sequence[str]],
    parse: Callable[[str], Sequence[Call]] = python.parse_corrected,
) -> Sequence[Sequence[Call]]:
    """Parse the calls of each step, positional arguments under the names of the function docs.

    A text that is no call is left out; entries with such a truth stand in the ledger of their suite.
    """
    offer = OfferedFunctions(entry.all_functions, Names.DOTTED)

    def parse_step(texts: Sequence[str]) -> Iterator[Call]:
        for text in texts:
            with suppress(Undecodable):
                yield from map(offer.normalise_call, _parse_text(text, parse))

    return [[*parse_step(texts)] for texts in steps]


# The oracle is asked for the calls of a conversation at each of its steps.
@lru_cache(maxsize=4096)
def _parse_text(text: str, parse: Callable[[str], Sequence[Call]]) -> Sequence[Call]:
    return parse(text)

"""An answer along a golden path: calls, or the final response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_fcbench.codecs.decoders.outcome import Calls, Prose, Unreadable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.codecs.presenting import sanitise_name, select_tool_calls
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.runners import OWN, PathRunner, show_name


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The calls or the response of an answer; an unreadable call is replaced by the reason why."""

    calls: tuple[Call | Unreadable, ...] = ()
    response: str | None = None
    """The final response, where there are no calls; None where there is nothing at all."""
    unread: str | None = None
    """The reason why text that tries to call something cannot be read."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The calls as Python text, for people and for messages without tool calls."""
        texts = []
        for call in self.calls:
            if isinstance(call, Call):
                arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
                texts.append(f"{sanitise_name(call.name, Mode.PROMPT)}({arguments})")
            else:
                texts.append("(unreadable)")
        return tuple(texts)


@dataclass(frozen=True)
class Reader:
    """A reader of the answers in one conversation.

    Names are those that were shown, without the characters that interfaces refuse; of two functions that are
    shown alike the first is meant (official).
    """

    functions: tuple[FunctionDoc, ...]
    syntax: str
    """The notation of calls, a name of ``codecs.decoders.registry.SYNTAXES``."""
    runner: PathRunner = OWN

    @cached_property
    def _original_names(self) -> Mapping[str, str]:
        # Reversed, so that of two names that become one the first wins.
        return {self._show(doc): doc.name for doc in reversed(self.functions)}

    def _show(self, doc: FunctionDoc) -> str:
        mode = Mode.PROMPT if self.syntax == DEFAULT_SYNTAX[Mode.PROMPT] else Mode.FC
        return show_name(doc.name, mode, self.runner)

    @cached_property
    def _offer(self) -> OfferedFunctions:
        shown_docs = tuple(replace(doc, name=self._show(doc)) for doc in self.functions)
        return OfferedFunctions(shown_docs, Names.DOTTED)

    def read_official(self, completion: Completion) -> PathAnswer:
        """Read a completion as the official runner of the model does; none reads calls from text."""
        if self.syntax != "tool_calls":
            reading = read_official(completion, self.syntax, Language.PYTHON)
            return self._convert_reading(reading, completion)
        if calls := select_tool_calls(completion):
            return PathAnswer(tuple(self._read_tool_call(call, strict=True) for call in calls))
        return PathAnswer(response=completion.text)

    def read_corrected(self, completion: Completion) -> PathAnswer:
        """Read a completion leniently: text that tries to call is no response, arguments may be absent."""
        if calls := select_tool_calls(completion):
            return PathAnswer(tuple(self._read_tool_call(call, strict=False) for call in calls))
        reading = read_corrected(completion, self.syntax, Language.PYTHON, self._offer)
        return self._convert_reading(reading, completion)

    def read(self, completion: Completion, profile: Profile) -> PathAnswer:
        """Read a completion by the rules of a profile."""
        if profile is Profile.OFFICIAL:
            return self.read_official(completion)
        return self.read_corrected(completion)

    def _convert_reading(self, reading: Calls | Prose | Unreadable, completion: Completion) -> PathAnswer:
        match reading:
            case Calls(calls=[_, *_] as calls):
                return PathAnswer(
                    tuple(self._restore_name(self._offer.normalise_call(call)) for call in calls)
                )
            case Unreadable(reason=reason):
                return PathAnswer(response=completion.text, unread=reason)
        return PathAnswer(response=completion.text)

    def _restore_name(self, call: Call) -> Call:
        return replace(call, name=self._original_names.get(call.name, call.name))

    def _read_tool_call(self, call: ToolCall, *, strict: bool) -> Call | Unreadable:
        """Read a tool call; officially unknown names end most conversations, wrong arguments the worker."""
        if strict and self.runner.unknown_function and call.name not in self._original_names:
            return Unreadable(f"there is no function {call.name}", self.runner.unknown_function)
        arguments: object = call.arguments
        if not strict and arguments in (None, ""):
            arguments = {}
        try:
            if isinstance(arguments, str):
                arguments = read_json_text(arguments)
        except (ValueError, RecursionError) as error:
            return Unreadable(f"the arguments are not JSON: {error}", self.runner.broken_json)
        # Officially an empty value of any of these kinds means that there are no arguments.
        if strict and (arguments in ([], "") or (arguments is None and self.runner.reads_null)):
            arguments = {}
        if not isinstance(arguments, Mapping):
            return Unreadable(f"the arguments are {type(arguments).__name__}, not an object", "crash")
        return self._restore_name(Call(call.name, {str(key): value for key, value in arguments.items()}))

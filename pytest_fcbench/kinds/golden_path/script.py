"""How a golden path answers a model: the form of its calls is checked, and a runner's habits are followed.

Both profiles use the script of the conversation, so that a difference between them is one of rules and not
one of words. The form of a call is checked before its values are compared. Official:
``CompareFCBase.format_check``. It checks names and the outermost types that it knows, and accepts ``true`` as
a number. The corrected profile knows all types of JSON Schema and does not accept that.

The official code has a runner for each family of models (``runner/*_runner.py`` and ``models/*.py`` at
c37b284). They differ in what they send and in what ends a conversation. Llama and GLM are officially asked
through raw templates; here their rules apply to the chat interface.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_fcbench.codecs.presenting import sanitise_name
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema, describe_misfit, has_type, name_json_type
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import Call, PathSettings, write_reply
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, PathWording

_NO_SUCCESS = "This call did not work. Check the function and its arguments."
_GENERIC = write_reply({"api_status": True, "content": _NO_SUCCESS})


@dataclass(frozen=True, slots=True)
class Script:
    """The runner that holds a conversation and the official texts that it uses, if any."""

    runner: PathRunner
    wording: PathWording | None

    @property
    def wrong_call(self) -> str:
        """The reply to a call that is not right."""
        return self.wording.wrong_call if self.wording else _GENERIC

    def write_refusal(self, call: Call, docs: Mapping[str, FunctionDoc], reason: str) -> str:
        """Return the reply to a call whose form is wrong; ``reason`` says in our words what is wrong."""
        if not self.runner.explains_form:
            return self.wrong_call
        if self.wording and (misfit := find_official_misfit(call, docs)):
            place, values = misfit
            return write_reply({"error": self.wording.refusals[place].format(**values)})
        return write_refusal(reason)


def write_refusal(reason: str) -> str:
    """Return the reply that tells a reason in our words."""
    return write_reply({"error": reason})


def find_runner_of(path: GoldenPath, path_settings: PathSettings) -> PathRunner:
    """Return the runner that holds the conversation along a path; own suites have no official one."""
    return RUNNERS.get(path_settings.runner or "", OWN) if path.by_runner else OWN


def find_script(path: GoldenPath, path_settings: PathSettings) -> Script:
    """Return the script of a conversation along a path.

    Raises ``NotScoredError`` where the conversation used official texts that are not there: without them
    nobody can tell what the model would have been shown.
    """
    runner = find_runner_of(path, path_settings)
    if path_settings.wording is None or not path.by_runner:
        return Script(runner, None)
    if path.wording is None or path.wording.version != path_settings.wording:
        raise NotScoredError(
            "wording",
            f"the conversation used the texts of the official code ({path_settings.wording}), which the pack "
            f"lacks; run 'fcbench pull complexfuncbench --code PATH' with a clone of that version",
        )
    return Script(runner, path.wording)


class Words(StrEnum):
    """What becomes of words beside calls in the next request."""

    KEPT = "kept"
    DROPPED = "dropped"
    EMPTY = "empty"
    """They are kept, and where there are none the content is an empty text, not null."""


@dataclass(frozen=True, slots=True)
class PathRunner:
    """The habits of a runner. The defaults are those of conversations that no official runner holds."""

    families: tuple[str, ...] = ()
    """The beginnings of words in names of models that this runner asks."""
    parameters: Mapping[str, object] | None = None
    """The parameters of its requests; None where it has none of its own."""
    sanitises_names: bool = True
    """True where names of functions are shown without the characters that interfaces refuse."""
    unknown_function: str = "decode_error"
    """The code of the failure when a call names no function; empty where the model is told so and goes on."""
    broken_json: str = "decode_error"
    """The code of the failure when arguments are not JSON."""
    no_reply: str = "unknown_error"
    """The code of the failure when no answer came."""
    no_text: str = "unknown_error"
    """The code of the failure when an answer has neither calls nor text; empty where it counts as a response
    without words."""
    needs_words: bool = False
    """True where an empty text counts as no text."""
    reads_null: bool = True
    """True where ``null`` means no arguments."""
    reads_empty_list: bool = False
    """True where an empty list of calls is an answer with calls."""
    explains_form: bool = True
    """True where the model is told what is wrong with the form of a call."""
    counts_last_mistakes: bool = True
    """True where mistakes in the last answer with calls fail an entry that is complete otherwise."""
    shows_words: bool = False
    """True where the judge sees words beside calls."""
    words: Words = Words.KEPT
    names_results: bool = False
    """True where the message with a result names the function."""
    identifies_results: bool = True
    """True where the message with a result has the id of the call."""


OWN = PathRunner()
"""The habits of conversations that no official runner holds."""

RUNNERS: Mapping[str, PathRunner] = read_table(dict[str, PathRunner], __file__, "runners.toml")
"""The official runners by name; the first one asks all models that no other is made for."""


def name_runner(model: str) -> str:
    """Name the runner for a model by its id. The last part of the id that names a family decides."""
    for part in reversed(model.lower().split("/")):
        for name, runner in RUNNERS.items():
            # Not within a word: ``ollama`` is no Llama.
            if re.search(rf"(?<![a-z])({'|'.join(runner.families)})", part):
                return name
    return next(iter(RUNNERS))


def show_name(name: str, mode: Mode, runner: PathRunner) -> str:
    """Return the name of a function as a model sees it that this runner asks."""
    if mode is Mode.FC and not runner.sanitises_names:
        return name
    return sanitise_name(name, mode)


def list_path_settings(entry: Entry) -> Sequence[PathSettings]:
    """List the settings under which a run may put an entry, the usual ones first.

    Only golden paths have several: the profiles, and officially the runner for a family of models, differ in
    what they ask.
    """
    path = entry.expectation
    if not isinstance(path, GoldenPath):
        return (PathSettings(Profile.OFFICIAL),)
    official = PathSettings(Profile.OFFICIAL, wording=path.wording.version if path.wording else None)
    runners = [replace(official, runner=name) for name in RUNNERS] if path.by_runner else [official]
    return (*runners, PathSettings(Profile.CORRECTED))


_OFFICIAL: Mapping[object, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
}


def find_format_error(call: Call, docs: Mapping[str, FunctionDoc], profile: Profile) -> str | None:
    """Describe the error in the form of a call, in words for the model, or return None."""
    fits = _conforms_officially if profile is Profile.OFFICIAL else has_type
    error = describe_misfit(call.name, call.arguments, docs, fits)
    return None if error is None else make_printable(error)


@dataclass(frozen=True, slots=True)
class FormFault:
    """A fault of a call's form, in words for people: those for the model do not name a misspelt parameter."""

    code: str
    """The code that the same fault has in a call whose form is right."""
    parameters: tuple[str, ...]
    description: str


def find_form_fault(
    made_call: Mapping[str, object], docs: Mapping[str, FunctionDoc], profile: Profile
) -> FormFault | None:
    """Find the fault for which ``find_format_error`` refuses a call of an offered function."""
    doc, arguments = docs.get(str(made_call.get("name"))), made_call.get("arguments")
    if doc is None or not isinstance(arguments, Mapping):
        return None
    missing = [name for name in doc.required if name not in arguments]
    surplus = [name for name in arguments if name not in doc.properties]
    if missing or surplus:
        parts = [f"{name!r} is missing" for name in missing]
        parts += [f"{name!r} is not one of its parameters" for name in surplus]
        code = "param_missing" if missing else "param_hallucination"
        return FormFault(code, (*missing, *surplus), make_printable(" and ".join(parts)))
    fits = _conforms_officially if profile is Profile.OFFICIAL else has_type
    for name, value in arguments.items():
        if not fits(value, schema := doc.properties[name]):
            type_name = name_json_type(value)
            description = f"{name!r} must be of type {schema.get('type')}, not {type_name}"
            return FormFault("value_error", (name,), make_printable(description))
    return None


def find_official_misfit(
    call: Call, docs: Mapping[str, FunctionDoc]
) -> tuple[str, Mapping[str, object]] | None:
    """Find the first error in the form of a call as ``format_check`` does, or return None.

    The error is a place of ``PathWording.refusals``, and the values for its sentence as Python writes them.
    """
    doc = docs.get(call.name)
    if doc is None:
        return "unknown_function", {"function": call.name}
    if missing := set(doc.required) - call.arguments.keys():
        # The official message tells the names as a list of the call's arguments in order.
        given, names = sorted(call.arguments), _write_set(missing)
        required = list(doc.required)
        return "missing", {"function": doc.name, "required": required, "given": given, "names": names}
    if surplus := call.arguments.keys() - doc.properties.keys():
        return "surplus", {"function": doc.name, "names": _write_set(surplus)}
    for name, value in sorted(call.arguments.items()):
        schema = doc.properties[name]
        if not _conforms_officially(value, schema):
            return str(schema["type"]), {"function": doc.name, "parameter": name, "type": type(value)}
    return None


def _write_set(names: Iterable[str]) -> str:
    """Write a set as Python does, in alphabetical order: Python's own differs from process to process."""
    return "{" + ", ".join(map(repr, sorted(names))) + "}"


def _conforms_officially(value: object, schema: Schema) -> bool:
    kind = schema.get("type")
    # A type that the official table lacks passes; a boolean is a number, as isinstance has it.
    return not isinstance(kind, str) or kind not in _OFFICIAL or isinstance(value, _OFFICIAL[kind])

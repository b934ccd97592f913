"""The official runners of ComplexFuncBench: how each family of models is asked and its answers are read.

The official code has a runner for each family (``runner/*_runner.py`` and ``models/*.py`` at c37b284). They
differ in what they send and in what ends a conversation. Llama and GLM are officially asked through raw
templates; here their rules apply to the chat interface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_fcbench.codecs.presenting import sanitise_name
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.truth import GoldenPath


class Words(StrEnum):
    """What becomes of words beside calls in the next request."""

    KEPT = "kept"
    DROPPED = "dropped"
    EMPTY = "empty"
    """They are kept, and where there are none the content is an empty text, not null."""


@dataclass(frozen=True, slots=True)
class PathRunner:
    """The habits of a runner. The defaults are those of conversations that no official runner holds."""

    name: str
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
    no_text: str | None = "unknown_error"
    """The code of the failure when an answer has neither calls nor text; None where it counts as a response
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


def _make_parameters(max_tokens: int = 2048) -> Mapping[str, object]:
    return {"temperature": 0.0, "max_tokens": max_tokens, "tool_choice": "auto"}


OWN = PathRunner("own")
"""The habits of conversations that no official runner holds."""

RUNNERS: Mapping[str, PathRunner] = {
    runner.name: runner
    for runner in (
        PathRunner("gpt", ("gpt",), _make_parameters(), words=Words.DROPPED, names_results=True),
        PathRunner(
            "claude",
            ("claude",),
            _make_parameters(),
            unknown_function="name_error",
            no_text="crash",
            needs_words=True,
            explains_form=False,
            counts_last_mistakes=False,
            shows_words=True,
        ),
        PathRunner(
            "mistral",
            ("mistral", "mixtral", "ministral", "codestral", "magistral", "devstral"),
            _make_parameters(),
            unknown_function="name_error",
            broken_json="crash",
            names_results=True,
        ),
        PathRunner(
            "qwen",
            ("qwen", "qwq"),
            _make_parameters(),
            sanitises_names=False,
            unknown_function="",
            no_reply="crash",
            no_text="crash",
            reads_null=False,
            reads_empty_list=True,
            counts_last_mistakes=False,
            words=Words.EMPTY,
            names_results=True,
            identifies_results=False,
        ),
        PathRunner(
            "glm",
            ("glm", "chatglm"),
            _make_parameters(),
            sanitises_names=False,
            unknown_function="",
            no_text=None,
            reads_null=False,
            counts_last_mistakes=False,
        ),
        PathRunner(
            "llama",
            ("llama",),
            _make_parameters(4096),
            sanitises_names=False,
            unknown_function="",
            no_text=None,
            reads_null=False,
            counts_last_mistakes=False,
        ),
    )
}
"""The official runners by name; the first one asks all models that no other is made for."""


def find_runner(model: str) -> PathRunner:
    """Return the runner for a model by its id. The last part of the id that names a family decides."""
    for part in reversed(model.lower().split("/")):
        for runner in RUNNERS.values():
            # Not within a word: ``ollama`` is no Llama.
            if re.search(rf"(?<![a-z])({'|'.join(runner.families)})", part):
                return runner
    return next(iter(RUNNERS.values()))


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

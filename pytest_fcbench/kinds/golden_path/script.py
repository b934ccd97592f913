"""The texts that a model and a judge are shown along a golden path, and the habits of a runner.

Both profiles use the script of the conversation, so that a difference between them is one of rules and not
one of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.recorded_call import write_reply
from pytest_fcbench.domain.transcript import Call, PathSettings
from pytest_fcbench.kinds.golden_path.call_format import find_official_misfit
from pytest_fcbench.kinds.golden_path.runners import OWN, RUNNERS, PathRunner
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.golden_path.wording import PathWording

_GENERIC = write_reply(
    {"api_status": True, "content": "This call did not work. Check the function and its arguments."}
)


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

"""Both verdicts on a conversation along a golden path: each profile walks it again over the answers.

The profiles show a model different texts: where one ends the conversation, the other continues. So the
verdict of the profile that did not lead the conversation holds as long as the model saw the texts of that
profile; beyond that nobody knows what it would have answered, and the entry is not scored (``other_rules``).
"""

from __future__ import annotations

from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import NOT_ASKED, AskModel, Completion, PathSettings, Transcript
from pytest_fcbench.domain.verdict import OTHER_RULES, Judgement, NotScored, Profile
from pytest_fcbench.judging.known_bad import find_unscored_cause
from pytest_fcbench.kinds.golden_path.profiles import walk_path
from pytest_fcbench.kinds.golden_path.walk import ShownTexts, WalkOutcome


class _ShownOtherwise(Exception):  # noqa: N818 - it ends a walk, and is no error
    """The profile would have shown the model something else than it was shown."""


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge a conversation and its progress by both profiles. ``entry`` must have a golden path."""
    path_settings = transcript.driven or PathSettings(Profile.OFFICIAL)
    official = _walk_again(entry, transcript, path_settings, Profile.OFFICIAL)
    corrected = _walk_again(entry, transcript, path_settings, Profile.CORRECTED)
    if unscored_cause := find_unscored_cause(entry, transcript):
        return Judgement(official.verdict, unscored_cause, official.score)
    return Judgement(official.verdict, corrected.verdict, official.score, corrected.score)


def _walk_again(
    entry: Entry, transcript: Transcript, path_settings: PathSettings, profile: Profile
) -> WalkOutcome:
    answers = {aside.digest: aside.completion for aside in transcript.asides}
    steps = transcript.turns[0]
    number, has_gap = 0, False

    def respond(demand: ShownTexts | AskModel) -> Completion:
        nonlocal number, has_gap
        if isinstance(demand, AskModel):
            completion = answers.get(demand.digest, NOT_ASKED)
            has_gap |= completion is NOT_ASKED
            return completion
        # Beyond this point nobody knows what the model would have answered.
        if number == len(steps) or (number and demand.texts != steps[number - 1].results):
            raise _ShownOtherwise
        number += 1
        return steps[number - 1].completion

    try:
        walk = walk_path(entry, transcript.prompting.syntax, path_settings, profile)
        outcome = drive_conversation(walk, respond)
    except _ShownOtherwise:
        return WalkOutcome(_explain_divergence(path_settings, profile, number), None)
    except NotScoredError as error:
        return WalkOutcome(NotScored(error.cause, error.reason), None)
    if has_gap and isinstance(outcome.verdict, NotScored):
        return WalkOutcome(_explain_divergence(path_settings, profile, number), None)
    return outcome


def _explain_divergence(path_settings: PathSettings, profile: Profile, step: int) -> NotScored:
    return NotScored(
        OTHER_RULES,
        f"the conversation was held by the {path_settings.profile} rules; by the {profile} ones the model "
        f"would have been shown something else after answer {step}",
    )

"""A run as a log of Inspect, written sample by sample from the classes of inspect_ai.

A scorecard holds no questions, so the input of a sample is the id of its entry. A sample has a score for each
profile; what was not scored is what Inspect calls unscored, and is in none of its metrics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from inspect_ai import log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.record import Record, read_answer
from pytest_fcbench.scorecard.rows import list_scores
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export.formats import ExportRequest, describe_conditions, require_end

_SURROGATE = re.compile("[\ud800-\udfff]")


def render_log(order: ExportRequest) -> Iterator[str]:
    """Yield the log as JSON, one sample at a time."""
    card = order.card
    end_time = require_end(card)
    header = {**_describe_run(card, order.profile, end_time).model_dump(exclude_none=True), "samples": []}
    # The list of samples is the last member, so its end is that of the text.
    yield _write_json(header).removesuffix("]}")
    for number, outline in enumerate(card.records):
        sample = _describe_sample(card.read_whole(outline), card.facts.model)
        yield f"{',' if number else ''}\n{_write_json(sample.model_dump(exclude_none=True))}"
    yield "\n]}\n"


def _write_json(value: Mapping[str, object]) -> str:
    # The canonical score of what was not scored is NaN, which Inspect reads in JSON too. It refuses lone
    # surrogates, also escaped ones, so they become the text of their escape.
    text = json.dumps(value, default=str, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: rf"\\u{ord(match[0]):x}", text)


def _describe_run(card: Scorecard, first: Profile, end_time: datetime) -> log.EvalLog:
    """Describe a run without its samples; the scores of ``first`` come first."""
    facts, profiles = card.facts, sorted(Profile, key=lambda profile: profile is not first)
    suites = " + ".join(facts.suites)
    spec = log.EvalSpec(
        created=end_time.isoformat(),
        task=f"fcbench {suites}",
        task_version="; ".join(str(about.get("version")) for about in facts.suites.values()),
        dataset=log.EvalDataset(name=suites, samples=len({record.entry for record in card.records})),
        model=f"fcbench/{facts.model}",
        config=log.EvalConfig(epochs=count_trials(card.records)),
        packages={"pytest-fcbench": facts.fcbench},
        metadata={
            "mode": facts.mode,
            "names": facts.names,
            "syntax": facts.syntax,
            "conditions": describe_conditions(card),
            "labels": dict(facts.labels),
        },
    )
    scores = []
    for profile in profiles:
        profile_scores = card.scores(profile)
        metrics = {
            name: log.EvalMetric(
                name=name,
                value=score.accuracy,
                metadata={"interval_95": [limits.low, limits.high]} if (limits := score.interval) else None,
            )
            # The first metric is the one that Inspect shows.
            for _, name, score in sorted(
                list_scores(profile_scores), key=lambda one: one[1] != profile_scores.main
            )
            if score.accuracy is not None
        }
        scores.append(
            log.EvalScore(
                name=profile,
                scorer=profile,
                scored_samples=profile_scores.overall.scored,
                unscored_samples=profile_scores.overall.not_scored,
                metrics=metrics,
            )
        )
    number = len(card.records)
    # Without both times the viewer shows a duration that is no number.
    start_time = end_time - timedelta(seconds=card.duration_s or 0)
    stats = log.EvalStats(started_at=start_time.isoformat(), completed_at=end_time.isoformat())
    results = log.EvalResults(total_samples=number, completed_samples=number, scores=scores)
    return log.EvalLog(
        version=2, status="success", eval=spec, plan=log.EvalPlan(), results=results, stats=stats
    )


def _describe_sample(record: Record, model: str) -> log.EvalSample:
    answers = [read_answer(answer) for turn in record.turns for answer in turn]
    assistant_messages = [_describe_answer(number, answer) for number, answer in enumerate(answers)]
    messages: list[ChatMessage] = [ChatMessageUser(content=record.entry), *assistant_messages]
    # The text and the calls, for the column of answers in the viewer.
    calls = [call for answer in assistant_messages[-1:] for call in answer.tool_calls or ()]
    texts = [answer.text for answer in assistant_messages[-1:] if answer.text]
    answer_text = "\n".join([*texts, *(f"{call.function}({json.dumps(call.arguments)})" for call in calls)])
    # Tokens are numbers in Inspect, so what is not known is 0.
    usage = ModelUsage(
        input_tokens=record.input_tokens or 0,
        output_tokens=record.output_tokens or 0,
        total_tokens=(record.input_tokens or 0) + (record.output_tokens or 0),
        total_cost=record.usd,
    )
    return log.EvalSample(
        id=record.entry,
        epoch=record.trial or 1,
        input=record.entry,
        target="",
        messages=messages,
        output=ModelOutput(
            model=model, completion=assistant_messages[-1].text if assistant_messages else "", usage=usage
        ),
        scores={profile: _describe_verdict(record, profile, answer_text) for profile in Profile},
        metadata={"suite": record.suite, "category": record.category, "group": record.group},
        model_usage={model: usage},
        total_time=record.latency_s,
    )


def _describe_answer(number: int, answer: Completion) -> ChatMessageAssistant:
    calls = []
    content: list[Content] = [ContentReasoning(reasoning=answer.reasoning)] if answer.reasoning else []
    for place, call in enumerate(answer.tool_calls or ()):
        if isinstance(call, str):
            content.append(ContentText(text=call))
            continue
        arguments, fault = call.arguments, None
        if isinstance(arguments, str):
            # Deep nesting ends json's recursion; a model can write that.
            try:
                arguments = read_json_text(arguments)
            except (ValueError, RecursionError) as error:
                fault = str(error)
        if not isinstance(arguments, Mapping):
            arguments, fault = {"raw": arguments}, fault or "the arguments are not an object"
        calls.append(ToolCall(f"call-{number}-{place}", call.name, dict(arguments), fault))
    return ChatMessageAssistant(
        content=[*content, ContentText(text=answer.text or "")], tool_calls=calls or None, source="generate"
    )


def _describe_verdict(record: Record, profile: Profile, answer_text: str) -> Score:
    match record.verdict(profile):
        case Passed():
            return Score(value="C", answer=answer_text)
        case Failed(code=code, reason=reason):
            return Score(value="I", answer=answer_text, explanation=reason, metadata={"code": code})
        case NotScored(cause=cause, reason=reason):
            return Score.unscored(reason=cause, explanation=reason)

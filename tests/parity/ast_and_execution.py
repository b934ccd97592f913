"""AST against execution over twelve published models, as scorecards (BFCL paper, Figure 3, on our data).

    python -m tests.parity.ast_and_execution ORACLE FOLDER
    fcbench run leaderboard FOLDER/*.json --sort=executable --to=figure.html

Needs the pack (``fcbench pull bfcl``). The published answers of 2024 in BFCL's Python categories that expect
calls, read as they were then: those that are judged as they are written (AST), and those about functions that
ask nobody, judged by what they return and as they are written.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.entry import AS_WRITTEN, CATEGORIES, Entry
from pytest_fcbench.domain.prompting import ModelPresentation, Names
from pytest_fcbench.domain.transcript import Completion, Transcript, part_from_json
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.scorecard import record
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.factories import FACTS, make_transcript, write_scorecard
from tests.parity import comparison
from tests.parity.test_exec_published import find_syntax, read_answers, read_as_in_2024


def judge_published_answers(oracle: Path, suite: Suite, pool: Pool) -> dict[str, list[Record]]:
    """Return by model a Record of each published answer in these categories."""
    by_model: dict[str, list[Record]] = {}
    for model, entry, transcript in (*_read_written(oracle, suite), *_read_executed(oracle, suite)):
        judgement = (
            execution.judge(entry, transcript, pool)
            if entry.category.name in AS_WRITTEN
            else ast.judge(entry, transcript)
        )
        by_model.setdefault(model, []).append(_build_record(model, entry, judgement, transcript))
    return by_model


def _build_record(model: str, entry: Entry, judgement: Judgement, transcript: Transcript) -> Record:
    manner = ModelPresentation(model, transcript.prompting)
    return record.build_record(entry, manner, judgement, transcript)


def _read_written(oracle: Path, suite: Suite) -> Iterator[tuple[str, Entry, Transcript]]:
    for category in AS_WRITTEN.values():
        entries = {entry.id: entry for entry in suite.load(CATEGORIES[category])}
        for told in comparison.read_records(oracle / f"v4_{category}.jsonl.gz"):
            entry, model = entries[str(told["id"])], str(told["model"])
            transcript = _make_transcript(told["raw"], model, entry)
            names = Names.UNDERSCORED if told["underscore_to_dot"] else Names.DOTTED
            yield model, entry, replace(transcript, prompting=replace(transcript.prompting, names=names))


def _read_executed(oracle: Path, suite: Suite) -> Iterator[tuple[str, Entry, Transcript]]:
    for answer in read_answers(oracle / "exec_published.jsonl.gz", suite):
        yield answer.model, answer.entry, _make_transcript(answer.raw, answer.model, answer.entry)


def _make_transcript(raw: object, model: str, entry: Entry) -> Transcript:
    completion = (
        Completion(tool_calls=tuple(map(part_from_json, raw)))
        if isinstance(raw, list)
        else Completion(text=read_as_in_2024(model, str(raw)))
    )
    return make_transcript(completion, entry=entry.key, syntax=find_syntax(model))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("oracle", type=Path, metavar="ORACLE", help="folder of the recorded verdicts")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder to write the scorecards to")
    chosen = parser.parse_args()
    oracle, folder = chosen.oracle, chosen.folder
    suite = open_suite("bfcl", find_cache_folder())
    folder.mkdir(exist_ok=True)
    told = {"bfcl": {"version": suite.version, "pack_hash": suite.pack_sha256}}
    with closing(Pool()) as pool:
        for model, made in judge_published_answers(oracle, suite, pool).items():
            facts = replace(FACTS, model=model, mode=made[-1].mode, suites=told)
            write_scorecard(folder / f"{model}.json", made, facts)


if __name__ == "__main__":
    main()

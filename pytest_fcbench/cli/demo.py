"""``fcbench demo``: measure a model that is served here, say who lost its points, repair it, prove that."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_fcbench.cli.output import find_width, print_lines
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.run_verdict import describe_share
from pytest_fcbench.present.score_tables import tabulate_scores
from pytest_fcbench.present.tables import render_text, wrap_text
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.scorecard_files import load_outlines
from pytest_fcbench.server.parsing import ParserFault

_MODEL = "hosted_vllm/my-ft"
_FAULT = f"{ParserFault.FIRST_CALL}:1"
"""The fault of the server: its tool parser finds the first call of an answer only, as some do."""
_ASKED_AGAIN = 6
"""Lost points of which the cause is looked for; each is asked some ten times."""


def run_demo(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: exists; name a new folder, in which the files of the demo can stay")
    _run_command("fcbench", "init", "--ci", "none", str(folder), folder=Path())
    _print_paragraph(
        "How good is a model at calling functions? Here the model and its server are simulated, so no key "
        "and no network are needed."
    )
    with _serve_model(_FAULT) as api_base:
        _measure_model(folder, api_base)
        _print_paragraph(
            "All right in most categories, and all wrong wherever an answer needs several calls. Is it the "
            f"model? {_ASKED_AGAIN} of the entries that failed are asked again in other ways."
        )
        options = ("blame", f"--limit={_ASKED_AGAIN}", "--failures=1", f"--model={_MODEL}")
        print_lines(
            _run_command("fcbench", *options, f"--api-base={api_base}", folder=folder).splitlines(),
            flush=True,
        )
        _run_command("fcbench", "run", "baseline", "save", "scorecard.json", folder=folder)
    _print_paragraph(
        "It is not: the model writes all calls, and the server's tool parser finds the first one only. Here "
        "is the same with a right parser, compared with the run before."
    )
    with _serve_model() as api_base:
        _measure_model(
            folder, api_base, "--fcbench-baseline=fcbench-baseline.json", "--fcbench-gate=not-worse(95%)"
        )
    _print_paragraph(
        f"Look at every answer: cd {folder} && fcbench run report. Your own model: pytest benchmarks "
        "--fcbench-model=NAME --fcbench-api-base=http://localhost:8000/v1, and where it loses points: "
        "fcbench blame."
    )
    return 0


def _print_paragraph(text: str) -> None:
    print_lines(["", *wrap_text(text, find_width()), ""], flush=True)


def _measure_model(folder: Path, api_base: str, *options: str) -> None:
    """Put the single-turn entries of ``core`` to the served model, and show its scores."""
    command = ["pytest", "benchmarks", "-m", "non_live", f"--fcbench-model={_MODEL}", *options]
    print_lines([f"$ {shlex.join(command)}"], flush=True)
    _run_command(*command, f"--fcbench-api-base={api_base}", "--fcbench-refresh", "-q", folder=folder)
    card = load_outlines(folder / "scorecard.json")
    profile = card.facts.profile
    scores = {each: aggregate_scores(card.records, each, card.size_of) for each in Profile}
    # The table of categories is for the run that loses some.
    if not card.gate:
        print_lines([*render_text(tabulate_scores(card.facts, scores), find_width()), ""])
    print_lines([describe_share(card.records, profile, scores[profile]).partition(";")[0]])
    print_lines((f"gate {each.rule}: {each.outcome}: {each.sentence}" for each in card.gate), flush=True)


@contextmanager
def _serve_model(*faults: str) -> Iterator[str]:
    """Serve the model in a process of its own until the block ends; yield its address."""
    options = [
        "serve",
        "--model=oracle:hermes",
        "--name=my-ft",
        "--port=0",
        *(f"--fault={each}" for each in faults),
    ]
    command = _find_command("fcbench", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own
        try:
            ready = server.stdout.readline() if server.stdout else ""
            if not ready:
                raise FcbenchError("the server of the demo did not start; its error is above")
            yield ready.split()[-1]
        finally:
            server.terminate()


def _run_command(*command: str, folder: Path) -> str:
    """Run a command in a folder and return its output. Raises ``FcbenchError`` where it cannot run."""
    ended = subprocess.run(  # noqa: S603 - our own
        _find_command(*command),
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith(("FCBENCH", "PYTEST"))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # pytest ends with 1 where entries failed.
    if ended.returncode not in (0, 1):
        raise FcbenchError(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def _find_command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest_fcbench" if name == "fcbench" else name, *arguments]

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
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.present.run_verdict import describe_share
from pytest_fcbench.present.tables import wrap_text
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.scorecard_files import load_outlines
from pytest_fcbench.server.parsing import ParserFault

_MODEL = "hosted_vllm/my-ft"
_FAULT = f"{ParserFault.FIRST_CALL}:1"
"""The fault of the server: its tool parser finds the first call of an answer only, as some do."""
_SAMPLE = 150
"""So many entries are asked about in a run: enough for a clear gate, few enough for ten seconds."""
_BEFORE = "before.json"
"""The scorecard of the first run."""
_RUN = ("pytest", "benchmarks", "-m", "non_live", f"--fcbench-sample={_SAMPLE}", f"--fcbench-model={_MODEL}")
_COMPARED = (f"--fcbench-baseline={_BEFORE}", "--fcbench-gate=not-worse(95%)")
_BLAME = ("fcbench", "blame", _BEFORE, f"--model={_MODEL}", "--limit=3")


def run_demo(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: exists; name a new folder, in which the files of the demo can stay")
    _print_paragraph(
        "How good is a model at calling functions? Here is one behind a server, both simulated, so that no "
        f"key and no network are needed. It gets {_SAMPLE} questions, each of which is a test."
    )
    with _serve_model(f"--fault={_FAULT}") as broken_server:
        _read_output(_start_command("fcbench", "init", "--ci", "none", str(folder)))
        broken = _read_address(broken_server)
        # It gets ready while the first run goes on.
        with _serve_model() as right_server:
            _print_command(*_RUN)
            _read_output(_start_run(folder, broken))
            _print_scores(folder)
            _print_paragraph(
                "Two categories are lost, the others have all points: it fails wherever an answer needs "
                "several calls. Is it the model? Three of these answers are asked for again, in other ways."
            )
            (folder / "scorecard.json").rename(folder / _BEFORE)
            # While the cause is looked for, so that nobody waits; neither changes what the other asks.
            with _start_run(folder, _read_address(right_server), *_COMPARED) as second_run:
                print_cause(folder, broken)
                _print_paragraph(
                    "It is not the model, which writes all calls: the server's tool parser finds the first "
                    "one only. The same model at a server with a right parser, compared with the run before."
                )
                _print_command(*_RUN, *_COMPARED)
                _read_output(second_run)
    _print_scores(folder)
    _print_paragraph(
        f"Every lost answer: cd {shlex.quote(str(folder))} && fcbench run report {_BEFORE}. Your own model: "
        "pytest benchmarks --fcbench-model=NAME --fcbench-api-base=URL, and where it loses points: "
        "fcbench blame."
    )
    return 0


def _print_wrapped(text: str, indent: str = "") -> None:
    print_lines(wrap_text(text, min(80, find_width()), indent), flush=True)


def _print_paragraph(text: str) -> None:
    print()
    _print_wrapped(text)
    print(flush=True)


def _print_command(*command: str) -> None:
    _print_wrapped(f"$ {shlex.join(command)}", "    ")


def _print_scores(folder: Path) -> None:
    """Show what passed of each category if some is lost, what passed of all, and how the gate came out."""
    card = load_outlines(folder / "scorecard.json")
    scores = aggregate_scores(card.records, card.facts.profile, card.size_of)
    for name, score in scores.categories.items() if scores.all.failed else ():
        share = score.passed / max(score.scored, 1)
        bar = "#" * round(share * 25) or "<- lost"
        print(f"{name:<18} {score.passed:>3} of {score.scored:<3} {share:>5.0%}", bar)
    print()
    _print_wrapped(describe_share(card.records, card.facts.profile, scores).partition(";")[0])
    for each in card.gate:
        _print_wrapped(f"gate {each.rule}: {each.outcome}: {each.sentence}", "  ")


def print_cause(folder: Path, api_base: str) -> None:
    """Ask for lost answers again, and show the decisive evidence about the first of them."""
    _print_command(*_BLAME)
    blame = _start_command(*_BLAME, f"--api-base={api_base}", "--json", folder=folder)
    document = as_mapping(read_json_text(_read_output(blame)))
    entries = document["entries"]
    assert isinstance(entries, list)
    reason = entries[0]["reason"].split(": ")
    print(f"\n{entries[0]['entry']}\n  {': '.join([reason[0], *reason[2:3]])}")
    for line in entries[0]["evidence"]:
        way, outcome = line.split(": ")[:2]
        # That the prompt is whole decides nothing here.
        if outcome != "kept":
            print(f"  {way:<66} {outcome}")
    points = as_mapping(document["points"]).items()
    for who, count in points:
        if count:
            print(f"{count} of these {len(entries)} points were lost by the {who}")


@contextmanager
def _serve_model(*faults: str) -> Iterator[subprocess.Popen[str]]:
    """Serve the model in a process of its own until the block ends."""
    options = ("--model=oracle:hermes", "--name=my-ft", "--port=0", *faults)
    with _start_command("fcbench", "serve", *options) as server:
        try:
            yield server
        finally:
            server.terminate()


def _read_address(server: subprocess.Popen[str]) -> str:
    """Wait until a server is ready, and return its address."""
    lines = []
    for line in server.stdout or ():
        # Before it comes the project in which the command runs, if there is one.
        if line.startswith("serving "):
            return line.split()[-1]
        lines.append(line)
    raise FcbenchError(f"the server of the demo did not start: {''.join(lines)}")


def _start_run(folder: Path, api_base: str, *options: str) -> subprocess.Popen[str]:
    """Start to put the single-turn entries of ``core`` to the served model."""
    return _start_command(*_RUN, f"--fcbench-api-base={api_base}", *options, "-q", folder=folder)


def _start_command(name: str, *arguments: str, folder: Path = Path()) -> subprocess.Popen[str]:
    """Start a command in a folder, without the settings of the person for models of their own."""
    module = "pytest_fcbench" if name == "fcbench" else name
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if not key.startswith(("FCBENCH", "PYTEST"))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _read_output(process: subprocess.Popen[str]) -> str:
    """Wait for a command and return its output. Raises ``FcbenchError`` where it could not run."""
    output, _ = process.communicate()
    # pytest ends with 1 where entries failed.
    if process.returncode not in (0, 1):
        raise FcbenchError(f"{process.args!r} ended with {process.returncode}:\n{output}")
    return output

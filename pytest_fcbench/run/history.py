"""The runs of a project: every scorecard is kept, one file each, and found by a name.

A file is called after the end of its run (UTC) and its model: ``20261123-123005-gpt-4o.json``. Its section
comes first, so that a list of runs reads the beginning of each file and no more. Each states the git commit
of the project, read from git's own files without starting a process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from filecmp import cmp
from pathlib import Path
from typing import Any

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.run.output_files import copy_file, write_file
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, SCHEMA, UNDECIDED, WORDS
from pytest_fcbench.scorecard.scorecard_files import KeptRun, read_report, read_report_head

LATEST, PREVIOUS = "latest", "previous"
SECOND = ".against"
"""The end of the name of a second model's scorecard."""
_LONGEST_NAME = 60
_MOST_CANDIDATES = 5
"""The most runs that are named where a name fits several."""
_SEARCHED = 20
"""The most runs in which an entry is looked for."""


def write_scorecard(
    report: Mapping[str, object],
    indent: int | None = None,
    find_record: Callable[[str], str | None] = lambda nodeid: None,
) -> Iterator[str]:
    """Write a report in pieces: its section first, each test on a line.

    ``find_record`` returns the JSON of a test's Record by node id, where the report lacks it. With ``indent``
    the report is in memory as a whole, laid out as ``json.dumps`` has it.
    """
    members = {"fcbench": report["fcbench"], **report}
    if indent is not None and isinstance(tests := report["tests"], list):
        for test in tests:
            if record := find_record(str(test["nodeid"])):
                test["metadata"] = {**test.pop("metadata", {}), "fcbench": read_json_text(record)}
        yield json.dumps(members, default=str, indent=indent)
        return
    for number, (key, value) in enumerate(members.items()):
        yield f"{', ' if number else '{'}{json.dumps(key)}: "
        if key != "tests" or not isinstance(value, list):
            yield json.dumps(value, default=str)
            continue
        yield "["
        for place, test in enumerate(value):
            yield ",\n" if place else "\n"
            yield _write_test(test, find_record(str(test["nodeid"])))
        yield "\n]"
    yield "}"


def _write_test(test: Mapping[str, Any], record: str | None) -> str:
    """Write a test with its Record, if it has one, in its metadata, behind all else."""
    if record is None:
        return json.dumps(test, default=str)
    # A Record is JSON already, and most of a scorecard: reading it to write it again would take long.
    metadata = test.get("metadata", {})
    others = {key: value for key, value in test.items() if key != "metadata"}
    beginning = json.dumps({**others, "metadata": metadata}, default=str).removesuffix("}}")
    return f'{beginning}{", " if metadata else ""}"fcbench": {record}}}}}'


def keep_run(folder: Path, content: str | Iterable[str] | Path, model: str, ended_s: float) -> Path:
    """Keep a scorecard, given as text, in pieces or as a file; return its path. Raises ``FcbenchError``."""
    path = _name_run(folder, model, ended_s)
    if isinstance(content, Path):
        # No link: what is written into the one would be in the other too.
        copy_file(content, path)
    else:
        write_file(path, content)
    return path


def keep_former_scorecard(folder: Path, scorecard: Path) -> None:
    """Keep the scorecard that a run is about to replace, unless it is kept already.

    It may be of a version that kept no runs, or of a folder that was deleted. What is no scorecard stays out.
    """
    if not scorecard.is_file():
        # Reading a device such as /dev/full never ends.
        return
    try:
        if any(_is_same_file(path, scorecard) for path in folder.glob("*.json")):
            return
        report = read_report(scorecard, lambda test, place: None)
        section = report["fcbench"]
        if isinstance(section, Mapping) and section["schema"] == SCHEMA and "tests" in report:
            is_first = next(iter(report)) == "fcbench"
            content = scorecard if is_first else write_scorecard(read_json_text(scorecard.read_bytes()))
            keep_run(folder, content, str(section["model"]), float(str(report["created"])))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return


def name_second_file(path: Path) -> Path:
    """Name the file beside a scorecard that has the Records of the second model of its run."""
    return path.with_name(f"{path.stem}{SECOND}{path.suffix}")


def find_second_file(path: Path) -> Path | None:
    """Find the scorecard of the second model of a run; None where the run had none.

    A file of that name may be left of an earlier run.
    """
    try:
        second_file = name_second_file(path)
        section = read_report_head(path)["fcbench"] if second_file.is_file() else {}
        return second_file if section.get("against") else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Whoever reads the scorecard itself says what is wrong with it.
        return None


def _name_run(folder: Path, model: str, ended_s: float) -> Path:
    end_time = datetime.fromtimestamp(ended_s, UTC).strftime("%Y%m%d-%H%M%S")
    slug = re.sub(r"[^\w.-]+", "-", model)[:_LONGEST_NAME].strip("-.") or "model"
    path, number = folder / f"{end_time}-{slug}.json", 1
    while path.exists():
        number += 1
        path = folder / f"{end_time}-{slug}-{number}.json"
    return path


def list_runs(folder: Path) -> list[KeptRun]:
    """List the runs of a folder, the newest first; files that are no scorecards are left out.

    So are those of second models, which belong to their runs.
    """
    paths = (path for path in folder.glob("*.json") if not path.stem.endswith(SECOND))
    runs = map(_read_run, sorted(paths, key=_rank_by_age, reverse=True))
    return [run for run in runs if run]


def _rank_by_age(path: Path) -> tuple[str, float, int, str]:
    """Return a key that is the larger, the newer a run is."""
    try:
        written_s = path.stat().st_mtime
    except OSError:
        written_s = 0.0  # removed a moment ago, so it will not be read either
    # Of two runs that ended within a second the later was written later and, of one model, has a number.
    return path.name[:15], written_s, len(path.name), path.name


def _read_run(path: Path) -> KeptRun | None:
    try:
        # The tests of a run can take megabytes, which nothing here needs.
        section = read_report_head(path)["fcbench"]
        overall = section["profiles"][section["profile"]]["overall"]
        # Earlier versions counted missing parts as 0.
        limits, is_partial = overall["interval"] or {}, bool(overall["missing"])
        outcomes = {rule["outcome"] for rule in section.get("gate", ())}
        return KeptRun(
            path,
            str(section["model"]),
            str(section["profile"]),
            tuple(section["suites"]),
            {str(key): str(value) for key, value in section.get("labels", {}).items()},
            section.get("commit"),
            section.get("narrowed_by") or (f"shard {shard}" if (shard := section.get("shard")) else None),
            overall["passed"],
            overall["failed"],
            overall["not_scored"],
            None if is_partial else overall["accuracy"],
            None if is_partial else limits.get("low"),
            None if is_partial else limits.get("high"),
            next((WORDS[code] for code in (BROKEN, UNDECIDED, HELD) if WORDS[code] in outcomes), None),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def find_run(name: str, folder: Path) -> Path:
    """Return the scorecard that a path or the name of a run means. Raises ``UsageError``.

    A name is ``latest``, ``previous``, the beginning of a run's name, a label ``KEY=VALUE`` or the value of
    one; where several runs have that label, the newest is meant. With ``.against`` behind it, a name means
    the second model of that run.
    """
    if is_place(name):
        return Path(name)
    if name.endswith(SECOND):
        path = name_second_file(find_run(name.removesuffix(SECOND), folder))
        if not path.is_file():
            raise UsageError(f"{name}: that run had no second model; name a run with --fcbench-against")
        return path
    runs = list_runs(folder)
    if name in (LATEST, PREVIOUS):
        place = (LATEST, PREVIOUS).index(name)
        if len(runs) > place:
            return runs[place].path
        count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
        raise UsageError(f"{name}: {folder} has {count}; run pytest first, or give the path of a scorecard")
    # A label first: a short one may also be the beginning of a run's name.
    for run in runs:
        if name == run.name or name in _list_labels(run):
            return run.path
    if matching_runs := [run for run in runs if run.name.startswith(name)]:
        if len(matching_runs) == 1:
            return matching_runs[0].path
        candidates = ", ".join(run.name for run in matching_runs[:_MOST_CANDIDATES])
        more = ", ..." if len(matching_runs) > _MOST_CANDIDATES else ""
        raise UsageError(f"{name}: {len(matching_runs)} runs begin so; name one of {candidates}{more}")
    if name.endswith(".json") or "/" in name or not runs:
        fault = "cannot be read: No such file or directory"
        raise UsageError(f"{name}: {fault}; give the path of a readable file")
    names = [text for run in runs for text in (run.name, *_list_labels(run))]
    known_names = dict.fromkeys([LATEST, PREVIOUS, *names])
    raise UsageError(f"{describe_unknown_name('run', name, known_names)} 'fcbench run list' lists them.")


def find_run_before(path: Path, folder: Path) -> Path | None:
    """Find the run of the same model, suites and entries before one; None unless both were kept."""
    older_runs = iter(list_runs(folder))
    own = next((run for run in older_runs if _is_same_file(run.path, path)), None)
    # What is left are the runs before it.
    for run in older_runs:
        if own and (run.model, run.suites, run.narrowed_by) == (own.model, own.suites, own.narrowed_by):
            return run.path
    return None


def _is_same_file(path: Path, other: Path) -> bool:
    """Tell whether two files hold the same; the sizes of most differ."""
    return path.stat().st_size == other.stat().st_size and cmp(path, other, shallow=False)


def find_run_with(item_id: str, folder: Path) -> Path | None:
    """Return the newest run that has an entry or a trial, among the newest few; None if none has it."""
    # As a node id ends; in a run with trials an entry alone has none.
    needle = json.dumps(f"[{item_id}]")[1:-1]
    for run in list_runs(folder)[:_SEARCHED]:
        if needle in run.path.read_text(encoding="utf-8"):
            return run.path
    return None


def _list_labels(run: KeptRun) -> list[str]:
    return [text for key, value in run.labels.items() for text in (value, f"{key}={value}")]


_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def read_git_commit(folder: Path) -> str | None:
    """Return the hash of the commit that is checked out; None outside of a repository.

    Formats: gitrepository-layout(5). A worktree's ``.git`` is a file that names its folder, whose
    ``commondir`` names that of all worktrees.
    """
    root = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if root is None:
        return None
    try:
        if root.is_file():
            root = root.parent / root.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        common = root
        if (root / "commondir").is_file():
            common = root / (root / "commondir").read_text(encoding="utf-8").strip()
        head = (root / "HEAD").read_text(encoding="utf-8").strip()
        commit = _read_reference(root, common, head.removeprefix("ref:").strip()) if "ref:" in head else head
    except (OSError, UnicodeDecodeError):
        return None
    return commit if commit and _HASH.fullmatch(commit) else None


def _read_reference(root: Path, common: Path, name: str) -> str | None:
    for place in (root, common):
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8").strip()
    packed_refs = common / "packed-refs"
    for line in packed_refs.read_text(encoding="utf-8").splitlines() if packed_refs.is_file() else ():
        commit, _, reference = line.partition(" ")
        if reference == name:
            return commit
    return None

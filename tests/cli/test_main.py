"""The ``fcbench`` command: what it prints, and its exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_fcbench.cli import main, models
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.packs import WheelSource
from tests.dispatch.clock import wait_until
from tests.factories import DEMO, PACKAGE, make_record, pin_source, write_scorecard, write_tree, write_wheel


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FCBENCH_CACHE", str(cache))
    return cache


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path / "demo_eval-1.0-py3-none-any.whl", PACKAGE)


@pytest.fixture
def demo(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WheelSource:
    """Offer a small pack as the only one there is."""
    source = pin_source(DEMO, wheel, tmp_path / "scratch")
    monkeypatch.setattr(models, "PACKS", {"demo": source})
    return source


def test_pull_makes_a_pack_and_says_what_to_run(
    demo: WheelSource, wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["pull", "demo", "--from", str(wheel)]) == 0
    out, err = capsys.readouterr()
    assert out == (
        f"demo 1.0: 3 files, content sha256 {demo.content_sha256}\n"
        f"in {cache / 'packs' / 'demo' / '1.0'}\n"
        "run it with: pytest benchmarks --fcbench-suite=demo\n"
    )
    assert err == ""


def test_pull_takes_a_folder(demo: WheelSource, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_tree(tmp_path / "unpacked", PACKAGE)
    assert main.main(["pull", "demo", "--from", str(folder)]) == 0
    assert capsys.readouterr().out.startswith(f"demo 1.0: 3 files, content sha256 {demo.content_sha256}\n")


def test_list_says_what_is_missing_and_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["pull", "--list"]) == 0
    assert capsys.readouterr().out == (
        f"bfcl             bfcl-eval {bfcl.SOURCE.version}  suite 'bfcl' needs the pack bfcl-eval "
        f"{bfcl.SOURCE.version}: run 'fcbench pull bfcl' (or 'fcbench pull bfcl --from PATH' "
        "without a network)\n"
        "complexfuncbench zai-org/ComplexFuncBench  suite 'complexfuncbench' needs the pack "
        "zai-org/ComplexFuncBench: run 'fcbench pull complexfuncbench' (or 'fcbench pull complexfuncbench "
        "--from PATH' without a network)\n"
    )


def test_list_writes_nothing(cache: Path) -> None:
    main.main(["pull", "--list"])
    assert not cache.exists()


def test_list_says_where_a_pack_is(
    demo: WheelSource, wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main.main(["pull", "demo", "--from", str(wheel)])
    capsys.readouterr()
    assert main.main(["pull", "--list"]) == 0
    assert capsys.readouterr().out == f"demo demo-eval 1.0  in {cache / 'packs' / 'demo' / '1.0'}\n"


def test_list_goes_on_after_a_damaged_pack(
    demo: WheelSource, wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main.main(["pull", "demo", "--from", str(wheel)])
    (cache / "packs" / "demo" / "1.0" / "pack.json").write_text("{", encoding="utf-8")
    capsys.readouterr()
    assert main.main(["pull", "--list"]) == 0
    assert "pack demo is damaged" in capsys.readouterr().out


def test_an_origin_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    origin = tmp_path / "none.whl"
    assert main.main(["pull", "bfcl", "--from", str(origin)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"fcbench: {origin} does not exist; give the wheel of bfcl-eval or its unpacked folder\n"


def test_a_wheel_that_is_not_the_pinned_one_is_refused(
    demo: WheelSource, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_wheel(tmp_path / "other.whl", {"demo_eval/data/rows.json": "[]"})
    assert main.main(["pull", "demo", "--from", str(other)]) == 1
    assert capsys.readouterr().err.startswith("fcbench: other.whl is refused: its sha256 is ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(
            ["pull", "bfc"],
            "unknown pack 'bfc'. Did you mean 'bfcl'? Valid: bfcl, complexfuncbench.",
            id="unknown pack",
        ),
        pytest.param(
            ["pull"], "no pack is named; name one (bfcl, complexfuncbench), or use --list", id="no pack"
        ),
        pytest.param(
            ["pull", "bfcl", "--revision", "abc"],
            f"--revision=abc: the pack bfcl has a fixed version, bfcl-eval {bfcl.SOURCE.version}",
            id="revision of what is pinned",
        ),
        pytest.param(
            ["pull", "bfcl", "--form", "x"], "unrecognized arguments: --form x", id="unknown option"
        ),
    ],
)
def test_wrong_words_are_a_usage_error(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 4
    err = capsys.readouterr().err
    assert re.match("fcbench( pull)?: error: ", err)
    assert says in err
    assert "usage:" not in err


@pytest.mark.parametrize("words", [["--version"], ["-V", "demo"], ["--version", "run", "list", "--bogus"]])
def test_version_is_that_of_the_distribution(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(words)
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"fcbench {version('pytest-fcbench')}\n"


def test_a_folder_with_a_broken_source_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = dict.fromkeys(bfcl.SOURCE.sources, "def (")
    folder = write_tree(tmp_path / "odd", {**sources, "bfcl_eval/data/rows.json": ""})
    assert main.main(["pull", "bfcl", "--from", str(folder)]) == 1
    assert capsys.readouterr().err == (
        "fcbench: not Python sources: invalid syntax (<unknown>, line 1); the package has changed, "
        "so pull the pinned version\n"
    )


def test_a_cache_that_cannot_be_written_is_told(
    demo: WheelSource, wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.write_text("a file", encoding="utf-8")
    assert main.main(["pull", "demo", "--from", str(wheel)]) == 1
    assert capsys.readouterr().err == (
        f"fcbench: {cache / 'packs' / 'demo'}: Not a directory; "
        f"choose another cache folder with FCBENCH_CACHE\n"
    )


def test_only_the_named_command_is_imported() -> None:
    code = (
        "import sys\n"
        "from pytest_fcbench.cli.main import main\n"
        "main(['suite', 'schema'])\n"
        "rooms = ('pytest_fcbench.cli.run', 'pytest_fcbench.cli.suite.')\n"
        "commands = [name for name in sys.modules if name.startswith(rooms)]\n"
        "sys.exit(str(commands))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "['pytest_fcbench.cli.suite.listing']"


@pytest.mark.parametrize("words", [["suite", "list", "-q"], ["models", "--quiet"]])
def test_a_quiet_command_prints_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main([word for word in words if word not in ("-q", "--quiet")]) == 0
    assert capsys.readouterr().out
    assert main.main(words) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("words", [["store", "-q", "size"], ["store", "size", "-q"]])
def test_switches_go_before_and_behind_an_action(words: list[str]) -> None:
    assert main.make_parser(["store"]).parse_args(words).quiet


def test_a_quiet_command_prints_errors(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        main.main(["gate", "-q", "no_such_run.json"])
    assert "no_such_run.json" in capsys.readouterr().err


@pytest.mark.parametrize("switches", [[], ["--verbose"]])
def test_a_verbose_command_prints_where_an_error_comes_from(
    switches: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(SystemExit, match="4"):
        main.main(["gate", str(path), "--gate=overall>=1%", *switches])
    assert ("Traceback (most recent call last)" in capsys.readouterr().err) is bool(switches)


def test_a_command_does_all_it_has_to_where_its_reader_leaves(tmp_path: Path) -> None:
    """Of ``fcbench gate ... | head`` neither the file nor the exit code is lost."""
    write_scorecard(tmp_path / "one.json", [make_record(Failed("wrong_count", "why"))])
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "pytest_fcbench.cli.main", "gate", "one.json", "-o", "told.md"]
    with os.fdopen(writing) as output:
        done = subprocess.run(
            [*command, "--gate", "all>=90%"],
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"")
    assert (tmp_path / "told.md").is_file()


_SILENT_SERVER = """
import os, subprocess, sys, time
for is_apart in (False, True):
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    child = subprocess.Popen(command, start_new_session=is_apart)
    print(child.pid, file=open("children", "a"))
print(os.getpid(), file=open("children", "a"))
open("started", "w")
time.sleep(60)
"""


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows ends processes without a signal")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_is_ended_ends_what_it_started(name: str, tmp_path: Path) -> None:
    """A server of MCP that never answers, its children and its folder do not outlive the command."""
    pytest.importorskip("mcp")
    (tmp_path / "silent.py").write_text(_SILENT_SERVER.replace('open("', f'open("{tmp_path}/'))
    (tmp_path / "folders").mkdir()
    number = getattr(signal, name)
    command = ["suite", "functions", f"mcp:{sys.executable} {tmp_path / 'silent.py'}"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest_fcbench.cli.main", *command],
        env={**os.environ, "TMPDIR": str(tmp_path / "folders")},
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background ignores it for all of them, nohup SIGHUP.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as ended:
        wait_until((tmp_path / "started").exists, patience_s=60)
        ended.send_signal(number)
        _, said = ended.communicate(timeout=30)
    assert (ended.returncode, said) == (128 + number, f"fcbench: ended by {name}\n")
    assert not list((tmp_path / "folders").iterdir())
    for pid in (tmp_path / "children").read_text().split():
        wait_until(partial(lambda pid: not Path(f"/proc/{pid}").exists(), pid))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("redirection", "words", "ending"),
    [
        (">&-", "codes", (0, "")),
        (">/dev/full", "codes", (1, "fcbench: the output cannot be written: No space left on device\n")),
        (">/dev/full", "codes -h", (1, "fcbench: the output cannot be written: No space left on device\n")),
        (">/dev/full", "codes -q", (0, "")),
    ],
)
def test_an_output_that_takes_nothing_ends_in_no_traceback(
    redirection: str, words: str, ending: tuple[int, str]
) -> None:
    command = f"{sys.executable} -m pytest_fcbench.cli.main {words} {redirection}"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == ending


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words", [["x\x1b[31m"], ["codes", "--x\x1b[31m"], ["run", "show", "a\x1b]0;x\x07\u202e"]]
)
def test_no_word_commands_the_terminal(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest_fcbench.cli.main", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "\\x1b" in done.stderr
    assert done.stderr.replace("\n", "").isprintable()

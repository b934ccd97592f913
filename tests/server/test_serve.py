"""The command: what it prints, how it ends, and what it refuses."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.server.conforming import WireFault
from pytest_fcbench.server.faults import FaultKind
from tests.conftest import ROOT
from tests.served import started, wait_for


def test_it_says_where_it_is_and_how_to_use_it() -> None:
    with started("--model", "oracle", "--suite", "core", "--suite", "core") as (process, api_base):
        port = int(api_base.split(":")[2].removesuffix("/v1"))
        assert api_base == f"http://127.0.0.1:{port}/v1"
        assert process.stdout is not None
        assert process.stdout.readline() == (
            "try it with: OPENAI_API_KEY=unused pytest benchmarks "
            f"--fcbench-model=openai/oracle --fcbench-api-base={api_base} --fcbench-store=none "
            "--fcbench-suite=core\n"
        )


def test_the_command_it_prints_passes_with_the_oracle(tmp_path: Path) -> None:
    with started("--model", "oracle") as (process, _):
        assert process.stdout is not None
        words = process.stdout.readline().removeprefix("try it with: ").split()
        name, _, value = words[0].partition("=")
        less = ["--fcbench-category=simple_python", f"--fcbench-scorecard={tmp_path / 'scorecard.json'}"]
        done = subprocess.run(
            [sys.executable, "-m", *words[1:], *less, "-p", "no:cacheprovider"],
            cwd=ROOT,
            env={**os.environ, name: value},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert " failed" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_exit_code_0_even_with_requests_in_flight(ending: signal.Signals) -> None:
    with started("--model", "oracle") as (process, api_base):
        host, port = api_base.split("/")[2].split(":")
        with socket.create_connection((host, int(port)), timeout=120) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            wait_for(api_base, "in_flight", 1)
            os.kill(process.pid, ending)
            assert process.wait(120) == 0


MALFORMED = (
    b"hello",
    b"GET http://[ HTTP/1.1\r\nHost: x",
    b"GET / HTTP/1.1\r\nHost: x\r\nno header",
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ten",
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ",
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length:3\r\n\r\nabc",
)


def test_malformed_requests_are_refused_and_print_nothing(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w+") as errors:
        with started("--model", "oracle", stderr=errors) as (_, api_base):
            host, port = api_base.split("/")[2].split(":")
            for request in MALFORMED:
                with socket.create_connection((host, int(port)), timeout=120) as client:
                    client.sendall(request + b"\r\n\r\n")
                    assert client.recv(12) in (b"HTTP/1.1 400", b"HTTP/1.0 400"), request
        errors.seek(0)
        assert errors.read() == ""


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main.main(["serve", "--model", "oracle", "--port", str(port)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"fcbench: --port={port}: ")
    assert "ddress already in use" in err
    assert err.endswith("; give another port, or 0 for any free one\n")


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_cannot_be_is_told(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["serve", "--model", "oracle", f"--port={port}"]) == 1
    assert "ports are 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--model=oracle", "--fault=markup:1"],
            "--fault=markup:1: only --model=conforming and --model=oracle:SYNTAX have this fault; serve one",
        ),
        (
            ["--model", "orcale"],
            "--model=orcale: unknown model 'orcale'. Did you mean 'oracle'? Valid: oracle,",
        ),
        (
            ["--model", "scripted:"],
            "--model=scripted:: unknown model 'scripted:'. Did you mean 'scripted:FILE'?",
        ),
        (["--model", "scripted:none.yaml"], "scripted:none.yaml: cannot be read: No such file or directory"),
        (["--model", "gpt-4o"], "Valid: oracle, lexical, scripted:FILE, conforming."),
        (["--model", "oracle", "--suite", "bfc"], "unknown suite 'bfc'. Did you mean 'bfcl'?"),
        (["--model", "oracle", "--fault", "cut:2"], "--fault=cut:2: the share must be a number from 0 to 1"),
        (
            ["--model", "oracle", "--fault", "cut:.6", "500:.6"],
            "--fault=cut:.6 500:.6: the shares add up to 1.2; their sum must not exceed 1",
        ),
        (["--model", "oracle", "--fault", "cut:.6", "--fault", "cut:.1"], "cut is given twice"),
        (["--model", "oracle", "--latency", "soon"], "--latency=soon: must be a number of seconds"),
        (["--model", "oracle", "--retry-after", "-1"], "--retry-after=-1.0: must be a number of seconds"),
        (["--model", "oracle", "--retry-after", "nan"], "--retry-after=nan: must be a number of seconds"),
        (
            ["--model", "oracle", "--judge-reply", "@none.txt"],
            "--judge-reply=@none.txt: the file cannot be read: No such file or directory",
        ),
        (["--model", "oracle", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        ([], "missing: --model"),
    ],
)
def test_wrong_words_exit_with_2(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["serve", *options])
    assert ended.value.code == 4
    assert says in capsys.readouterr().err


def test_a_missing_pack_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path))
    assert main.main(["serve", "--model", "oracle", "--suite", "bfcl"]) == 1
    assert "run 'fcbench pull bfcl'" in capsys.readouterr().err


def test_help_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main.main(["serve", "--help"])
    words = capsys.readouterr().out.replace(",", " ").replace(";", " ").split()
    assert {*FaultKind, *WireFault} <= {*words}


@pytest.mark.nightly
def test_other_commands_do_not_load_the_server() -> None:
    code = (
        "import sys\n"
        "from pytest_fcbench.cli.main import main\n"
        "main(['pull', '--list'])\n"
        "print('aiohttp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")

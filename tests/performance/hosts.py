"""Separate hosts on one machine: network namespaces, joined by a bridge that leads nowhere else.

    python -m tests.performance.hosts [--latency 0.2]

A controller and two hosts, each with a network and a folder of its own and a model on its own loopback, as
where each machine serves the model under test. Shown are: the run on one host, on two over xdist's sockets,
as two shards that are merged, with a host that dies and with one whose cable is cut. Prints for each how
many tests were scored and the seconds. Needs Linux, root and iproute2; ends what it started.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOSTS = ("controller", "one", "two")
_MODEL = ("--fcbench-model=hosted_vllm/m", "--fcbench-api-base=http://127.0.0.1:8000/v1")
_CHOSEN = ("--fcbench-category=single_turn", "--fcbench-concurrency=16", "--fcbench-store=none")
# pytest-rerunfailures, where it is installed, connects each worker to the controller's own loopback.
_WITHOUT = ("-p", "no:cacheprovider", "-p", "no:rerunfailures")
_LONGEST_S = 300


def _run_ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _name_namespace(host: str) -> str:
    return f"fcbench-{host}"


def _format_address(host: str) -> str:
    """Return an address of the block that is reserved for documentation (RFC 5737)."""
    return f"192.0.2.{10 + HOSTS.index(host)}"


@contextmanager
def join_hosts() -> Iterator[None]:
    """Join the namespaces for as long as the block lasts."""
    _run_ip("netns", "add", _name_namespace("bridge"))
    try:
        _run_ip("-n", _name_namespace("bridge"), "link", "add", "bridge", "type", "bridge")
        _run_ip("-n", _name_namespace("bridge"), "link", "set", "bridge", "up")
        for host in HOSTS:
            _run_ip("netns", "add", _name_namespace(host))
            peer = ("peer", "name", host, "netns", _name_namespace("bridge"))
            _run_ip("link", "add", "cable", "netns", _name_namespace(host), "type", "veth", *peer)
            _run_ip("-n", _name_namespace("bridge"), "link", "set", host, "master", "bridge", "up")
            _run_ip("-n", _name_namespace(host), "addr", "add", f"{_format_address(host)}/24", "dev", "cable")
            for device in ("cable", "lo"):
                _run_ip("-n", _name_namespace(host), "link", "set", device, "up")
        yield
    finally:
        for host in ("bridge", *HOSTS):
            subprocess.run(
                ["ip", "netns", "del", _name_namespace(host)], check=False, stderr=subprocess.DEVNULL
            )


def _start_on(host: str, folder: Path, *command: str) -> subprocess.Popen[bytes]:
    """Start a command on a host, in its folder."""
    environment = {**os.environ, "HOSTED_VLLM_API_KEY": "none"}
    with (folder / host / "log.txt").open("ab") as log:
        return subprocess.Popen(
            ["ip", "netns", "exec", _name_namespace(host), sys.executable, "-u", *command],
            cwd=folder / host,
            stdout=log,
            stderr=log,
            env=environment,
        )


@contextmanager
def _kill_at_the_end(*processes: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _start_servers(folder: Path, latency: str) -> list[subprocess.Popen[bytes]]:
    serve = ("-m", "pytest_fcbench.cli.main", "serve", "--model", "oracle", "--latency", latency)
    return [_start_on(host, folder, *serve) for host in HOSTS]


def _start_gateways(folder: Path, *hosts: str) -> tuple[dict[str, subprocess.Popen[bytes]], list[str]]:
    """Start what xdist reaches on hosts; return it with the options by which it does."""
    server = ("-m", "execnet.script.socketserver")
    processes = {host: _start_on(host, folder, *server, f"{_format_address(host)}:8888") for host in hosts}
    places = [f"--tx=socket={_format_address(host)}:8888//chdir={folder / host}" for host in hosts]
    return processes, ["-d", *places]


def _start_pytest(host: str, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    return _start_on(host, folder, "-m", "pytest", *_WITHOUT, *_MODEL, *_CHOSEN, *options)


def _print_run(what: str, scorecard: Path, started: float, code: int) -> None:
    overall = json.loads(scorecard.read_text())["fcbench"]["profiles"]["official"]["overall"]
    seconds = time.monotonic() - started
    print(
        f"{what:<44} {overall['n']:>4} tests, {overall['passed']:>4} passed, "
        f"{overall['not_scored']} not scored, exit code {code}, {seconds:5.1f} s",
        flush=True,
    )


def _run_over_sockets(what: str, folder: Path, hosts: Sequence[str], lose: str | None = None) -> None:
    """Run with workers on hosts, of which the last is lost when the run is on its way."""
    started = time.monotonic()
    processes, options = _start_gateways(folder, *hosts)
    with _kill_at_the_end(*processes.values()):
        time.sleep(2)
        run = _start_pytest("controller", folder, *options)
        with _kill_at_the_end(run):
            if lose:
                _wait_for_tests(folder)
                if lose == "dies":
                    processes[hosts[-1]].kill()
                else:
                    _run_ip("-n", _name_namespace(hosts[-1]), "link", "set", "cable", "down")
            code = run.wait(_LONGEST_S)
    _print_run(what, folder / "controller" / "scorecard.json", started, code)


def _wait_for_tests(folder: Path) -> None:
    """Wait until the first tests have been reported; the terminal shows a dot for each."""
    log = folder / "controller" / "log.txt"
    before = log.read_bytes().count(b"items]")
    for _ in range(_LONGEST_S * 5):
        time.sleep(0.2)
        text = log.read_bytes()
        if text.count(b"items]") > before and b"." in text.rpartition(b"items]")[2]:
            return
    raise TimeoutError("no test was reported")


def _run_in_shards(folder: Path) -> None:
    started = time.monotonic()
    runs = [
        _start_pytest(host, folder, f"--fcbench-shard={number}/2")
        for number, host in enumerate(("one", "two"), 1)
    ]
    with _kill_at_the_end(*runs):
        for run in runs:
            run.wait(_LONGEST_S)
    parts = [str(folder / host / "scorecard.json") for host in ("one", "two")]
    merge = [sys.executable, "-m", "pytest_fcbench.cli.main", "run", "merge", *parts, "--to", "merged.json"]
    code = subprocess.run(merge, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode
    _print_run("two shards on two hosts, merged", folder / "merged.json", started, code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", default="0.2", metavar="SECONDS", help="of each answer (default 0.2)")
    latency = parser.parse_args().latency
    with tempfile.TemporaryDirectory() as name, join_hosts(), ExitStack() as stack:
        folder = Path(name)
        for host in HOSTS:
            init = [
                sys.executable,
                "-m",
                "pytest_fcbench.cli.main",
                "init",
                str(folder / host),
                "--ci",
                "none",
            ]
            subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
        stack.enter_context(_kill_at_the_end(*_start_servers(folder, latency)))
        time.sleep(5)
        _run_over_sockets("one host over a socket", folder, ["one"])
        _run_over_sockets("two hosts over sockets", folder, ["one", "two"])
        _run_in_shards(folder)
        _run_over_sockets("two hosts, one dies on the way", folder, ["one", "two"], lose="dies")
        _run_over_sockets("two hosts, the cable of one is cut", folder, ["one", "two"], lose="is cut off")


if __name__ == "__main__":
    main()

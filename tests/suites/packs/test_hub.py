"""A file of a dataset is found, downloaded, resumed, checked and kept; over real HTTP, on loopback only."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from pytest_fcbench.cli import main, models
from pytest_fcbench.domain.errors import PackError, PackMissing, SuiteError, UsageError
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.packs import Pack
from pytest_fcbench.suites.packs.hub import HubSource
from tests.conftest import ROOT
from tests.hub import FILE, REPO, Hub, hash_commit, serve_hub, watch_connections

OLD = b'{"ride": "ferry"}\n' * 3000
NEW = b'{"ride": "tram"}\n' * 5000
TOKEN = "hf_" + "not-a-real-token"
AT_HAND = "if you have the file, run: fcbench pull rides --from PATH"


def _check_content(content: bytes) -> object:
    if not content.startswith(b"{"):
        raise SuiteError(f"{FILE}:1: not JSON")
    return None


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Serve a hub with two commits; nothing but loopback is ever asked."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with watch_connections() as hosts, serve_hub(Hub({hash_commit(1): OLD, hash_commit(2): NEW})) as hub:
        yield hub
    assert set(hosts) <= {"127.0.0.1", "::1", "localhost"}
    assert all(request.path.split("/")[1] in ("datasets", "cdn") for request in hub.requests)


@pytest.fixture
def source(hub: Hub) -> HubSource:
    return HubSource("rides", REPO, FILE, _check_content, hub.endpoint)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def old(hub: Hub, source: HubSource, cache: Path) -> Pack:
    """Pull a pack of the first commit into the cache."""
    pack = packs.pull(source, cache, revision=hash_commit(1))
    hub.requests.clear()
    return pack


def _list_home(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "packs" / "rides").iterdir())


def _expect_refusal(source: HubSource, cache: Path, **how: str) -> str:
    """Return the message of a refused pull; it never holds a token."""
    with pytest.raises(PackError) as caught:
        packs.pull(source, cache, **how)  # type: ignore[arg-type]
    assert TOKEN not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is got


def test_the_newest_commit_is_found_got_and_recorded(hub: Hub, source: HubSource, cache: Path) -> None:
    pack = packs.pull(source, cache)
    sha256 = hashlib.sha256(NEW).hexdigest()
    assert pack.read(FILE) == NEW
    assert (pack.version, pack.content_sha256) == (hash_commit(2)[:12], sha256)
    assert pack.provenance == f"revision {hash_commit(2)} of {REPO}"
    manifest = json.loads((pack.folder / "pack.json").read_text())
    assert {key: manifest[key] for key in ("repo", "revision", "size", "content_sha256", "files")} == {
        "repo": REPO,
        "revision": hash_commit(2),
        "size": len(NEW),
        "content_sha256": sha256,
        "files": {FILE: sha256},
    }
    assert [(request.method, request.path.split("/")[5]) for request in hub.requests] == [
        ("HEAD", "main"),
        ("GET", hash_commit(2)),
    ]
    assert _list_home(cache) == ["dataset"]
    assert packs.open_pack(source, cache) == pack


def test_a_certain_revision_is_got(source: HubSource, cache: Path) -> None:
    pack = packs.pull(source, cache, revision=hash_commit(1))
    assert (pack.version, pack.read(FILE)) == (hash_commit(1)[:12], OLD)


def test_what_is_kept_is_a_plain_file(source: HubSource, cache: Path) -> None:
    packs.pull(source, cache)
    assert not [path for path in cache.rglob("*") if path.is_symlink()]


def test_content_on_another_host_comes_without_the_token(hub: Hub, source: HubSource, cache: Path) -> None:
    hub.cdn = True
    assert packs.pull(source, cache).read(FILE) == NEW
    asked = [request for request in hub.requests if "authorization" in request.headers]
    assert [request.path.split("/")[1] for request in asked] == ["datasets", "datasets"]
    assert hub.requests[-1].path == f"/cdn/{hash_commit(2)}"


def test_nothing_is_told_about_the_machine(hub: Hub, source: HubSource, cache: Path) -> None:
    """The library would ask for a list of programs to look for, to name the one that it runs in."""
    packs.pull(source, cache)
    assert not [request for request in hub.requests if "agent/" in request.headers["user-agent"]]
    assert constants.HF_HUB_DISABLE_TELEMETRY


# A file


def test_a_file_makes_a_pack_of_unknown_revision(
    hub: Hub, source: HubSource, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.jsonl").write_bytes(OLD)
    pack = packs.pull(source, cache, tmp_path / "mine.jsonl")
    sha256 = hashlib.sha256(OLD).hexdigest()
    assert (pack.version, pack.content_sha256, pack.read(FILE)) == (sha256[:12], sha256, OLD)
    assert pack.provenance == "a file whose revision is not known"
    assert json.loads((pack.folder / "pack.json").read_text())["revision"] is None
    assert hub.requests == []


def test_a_file_has_no_revision_to_choose(source: HubSource, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^--revision=x applies only to downloads from the hub; leave it out with --from"
    ):
        packs.pull(source, cache, tmp_path / "mine.jsonl", "x")


def test_what_is_no_file_is_told(source: HubSource, cache: Path, tmp_path: Path) -> None:
    for origin in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(PackError) as caught:
            packs.pull(source, cache, origin)
        assert str(caught.value) == f"{origin} is not a file; give {FILE} of {REPO}"


# Cut downloads


def test_a_cut_download_leaves_nothing(hub: Hub, source: HubSource, cache: Path, old: Pack) -> None:
    hub.cut = 20_000
    assert _expect_refusal(source, cache) == (
        f"the download was interrupted after 20000 of {len(NEW)} bytes; run 'fcbench pull rides' again"
    )
    assert _list_home(cache) == ["dataset"]
    assert packs.open_pack(source, cache) == old
    hub.cut = None
    assert packs.pull(source, cache).read(FILE) == NEW


# Replacing


def test_a_changed_dataset_replaces_the_old_pack(hub: Hub, source: HubSource, cache: Path, old: Pack) -> None:
    pack = packs.pull(source, cache)
    assert (pack.read(FILE), pack.folder) == (NEW, old.folder)
    with pytest.raises(PackError, match="was changed after it was fetched"):
        old.read(FILE)


def test_the_same_content_is_not_got_twice(hub: Hub, source: HubSource, cache: Path, old: Pack) -> None:
    hub.revisions[hash_commit(3)] = OLD
    pack = packs.pull(source, cache)
    assert (pack.version, pack.content_sha256) == (hash_commit(3)[:12], old.content_sha256)
    assert pack.read(FILE) == OLD
    assert hub.gets == []


def test_a_damaged_pack_is_got_anew(hub: Hub, source: HubSource, cache: Path, old: Pack) -> None:
    (old.folder / FILE).write_bytes(b"{}")
    pack = packs.pull(source, cache, revision=hash_commit(1))
    assert pack.read(FILE) == OLD


def test_a_pack_of_another_dataset_is_not_used(source: HubSource, cache: Path, old: Pack) -> None:
    with pytest.raises(
        PackError, match=r"^pack rides was written by another version of fcbench: run 'fcbench"
    ):
        packs.open_pack(replace(source, repo="acme/walks"), cache)


def test_a_missing_pack_names_the_commands_that_get_it(source: HubSource, cache: Path) -> None:
    with pytest.raises(PackMissing) as caught:
        packs.open_pack(source, cache)
    assert str(caught.value) == (
        "suite 'rides' needs the pack acme/rides: run 'fcbench pull rides' "
        "(or 'fcbench pull rides --from PATH' without a network)"
    )


# What is refused


@pytest.mark.parametrize(
    ("sends", "says"),
    [
        pytest.param(
            NEW.replace(b"tram", b"tran", 1),
            f"refused: {FILE} has the sha256 "
            f"{hashlib.sha256(NEW.replace(b'tram', b'tran', 1)).hexdigest()}, the hub states "
            f"{hashlib.sha256(NEW).hexdigest()}; run 'fcbench pull rides' to download it again",
            id="other content",
        ),
        pytest.param(
            NEW + b"{}\n",
            f"refused: {FILE} has more than the {len(NEW)} bytes that the hub states; pull it again",
            id="longer",
        ),
    ],
)
def test_content_other_than_stated_is_refused(
    hub: Hub, source: HubSource, cache: Path, old: Pack, sends: bytes, says: str
) -> None:
    hub.sends = sends
    assert _expect_refusal(source, cache) == says
    assert packs.open_pack(source, cache).read(FILE) == OLD
    assert _list_home(cache) == ["dataset"]


def test_shorter_content_than_stated_is_not_complete(hub: Hub, source: HubSource, cache: Path) -> None:
    hub.sends = NEW[:-10]
    assert f"interrupted after {len(NEW) - 10} of {len(NEW)} bytes" in _expect_refusal(source, cache)


def test_what_is_not_the_format_is_refused(
    hub: Hub, source: HubSource, cache: Path, old: Pack, tmp_path: Path
) -> None:
    hub.revisions[hash_commit(3)] = b"<html>"
    assert _expect_refusal(source, cache) == f"refused: {FILE}:1: not JSON"
    (tmp_path / "mine.html").write_bytes(b"<html>")
    with pytest.raises(PackError, match="not JSON"):
        packs.pull(source, cache, tmp_path / "mine.html")
    assert packs.open_pack(source, cache).read(FILE) == OLD


@pytest.mark.parametrize(
    ("states", "says"),
    [
        pytest.param(
            {"X-Repo-Commit": ""},
            "127.0.0.1 does not answer like a hub: its reply names no commit; check HF_ENDPOINT",
            id="no hub",
        ),
        pytest.param({"X-Repo-Commit": "../.."}, "127.0.0.1 does not answer like a hub", id="no commit"),
        pytest.param(
            {"X-Linked-Etag": '"1234"'},
            f"127.0.0.1 states no sha256 or no size for {FILE}, so the file cannot be verified; {AT_HAND}",
            id="no sha256",
        ),
        pytest.param(
            {"X-Linked-Size": str(2**40)},
            f"refused: {FILE} has {2**40} bytes, more than {512 * 2**20}",
            id="huge",
        ),
    ],
)
def test_a_hub_that_states_nothing_useful_is_told(
    hub: Hub, source: HubSource, cache: Path, states: dict[str, str], says: str
) -> None:
    hub.states = states
    assert _expect_refusal(source, cache).startswith(says)
    assert hub.gets == []


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        pytest.param(
            404,
            "RepoNotFound",
            f"127.0.0.1 has no dataset {REPO}, or shows it only with a token: set HF_TOKEN; {AT_HAND}",
            id="no repo",
        ),
        pytest.param(
            401,
            "",
            f"127.0.0.1 answered with HTTP 401: set HF_TOKEN to a valid token; {AT_HAND}",
            id="401",
        ),
        pytest.param(
            403,
            "GatedRepo",
            f"127.0.0.1 gives {REPO} only to users who have accepted its terms: accept them on "
            f"the dataset's page and set HF_TOKEN to your token; {AT_HAND}",
            id="gated",
        ),
        pytest.param(404, "EntryNotFound", f"{REPO} has no {FILE} at this revision; {AT_HAND}", id="no file"),
        pytest.param(
            403, "", f"127.0.0.1 answered with HTTP 403: set HF_TOKEN to a valid token; {AT_HAND}", id="403"
        ),
        pytest.param(503, "", f"127.0.0.1 answered with HTTP 503: try again later; {AT_HAND}", id="503"),
    ],
)
@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_refusal_says_what_to_do(
    hub: Hub, source: HubSource, cache: Path, old: Pack, method: str, status: int, code: str, says: str
) -> None:
    hub.errors[method] = status, code
    assert _expect_refusal(source, cache) == says
    assert packs.open_pack(source, cache) == old


def test_an_unknown_revision_is_told(source: HubSource, cache: Path) -> None:
    assert _expect_refusal(source, cache, revision="v9") == (
        f"{REPO} has no revision 'v9'; give the hash of a commit, or no --revision for the newest"
    )


def test_a_hub_that_is_not_there_is_told(source: HubSource, cache: Path) -> None:
    nowhere = replace(source, endpoint="http://user:secret@127.0.0.1:9")
    says = _expect_refusal(nowhere, cache)
    assert says.startswith("127.0.0.1 cannot be reached (")
    assert says.endswith(
        f"Connection refused); choose another hub with HF_ENDPOINT, or try again later; {AT_HAND}"
    )
    assert "secret" not in says


def test_an_address_that_is_none_is_told(source: HubSource, cache: Path) -> None:
    says = _expect_refusal(replace(source, endpoint="127.0.0.1/hub"), cache)
    assert says.startswith("HF_ENDPOINT cannot be reached (UnsupportedProtocol)")


def test_offline_means_offline(
    hub: Hub, source: HubSource, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert (
        _expect_refusal(source, cache)
        == f"HF_HUB_OFFLINE is set, so no request is sent to 127.0.0.1; unset it; {AT_HAND}"
    )
    assert hub.requests == []


def test_a_token_that_cannot_be_sent_is_told_and_not_shown(
    source: HubSource, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}ä")
    assert _expect_refusal(source, cache) == (
        "HF_TOKEN contains characters that are not allowed in an HTTP header; copy the token again"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(
    source: HubSource, cache: Path, old: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_file(path: Path, mode: str = "r", **more: Any) -> Any:
        return open("/dev/full" if mode == "wb" and path.name == FILE else path, mode, **more)  # noqa: PTH123

    monkeypatch.setattr(Path, "open", open_file)
    says = _expect_refusal(source, cache)
    assert (
        says == f"{cache / 'packs' / 'rides'}: No space left on device; choose another cache folder "
        f"with FCBENCH_CACHE"
    )
    assert packs.open_pack(source, cache) == old


# The command


def test_the_command_says_what_was_got_and_what_changed(
    hub: Hub,
    source: HubSource,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(models, "PACKS", {"rides": source})
    monkeypatch.setenv("FCBENCH_CACHE", str(cache))
    (tmp_path / "mine.jsonl").write_bytes(NEW)
    first, second = hashlib.sha256(OLD).hexdigest(), hashlib.sha256(NEW).hexdigest()

    def run_pull(*arguments: str) -> list[str]:
        assert main.main(["pull", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    assert run_pull("rides", "--revision", hash_commit(1)) == [
        f"rides {hash_commit(1)[:12]}: 1 file, content sha256 {first}",
        f"from revision {hash_commit(1)} of {REPO}",
        f"in {cache / 'packs' / 'rides' / 'dataset'}",
        "run it with: pytest benchmarks --fcbench-suite=rides",
    ]
    assert run_pull("rides")[2] == f"CHANGED: it was {hash_commit(1)[:12]}, content sha256 {first}"
    assert len(run_pull("rides")) == 4
    assert run_pull("rides", "--from", str(tmp_path / "mine.jsonl"))[:3] == [
        f"rides {second[:12]}: 1 file, content sha256 {second}",
        "from a file whose revision is not known",
        f"changed in name only: it was {hash_commit(2)[:12]}, the content is the same",
    ]
    assert run_pull("--list") == [f"rides {REPO} {second[:12]}  in {cache / 'packs' / 'rides' / 'dataset'}"]


def _run_fcbench(
    hub: Hub, cache: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that may not connect to anything but loopback."""
    code = (
        "import sys\n"
        "def only_loopback(event, arguments):\n"
        "    if event == 'socket.connect' and arguments[1][0] not in ('127.0.0.1', '::1'):\n"
        "        sys.exit(f'connects to {arguments[1]}')\n"
        "sys.addaudithook(only_loopback)\n"
        "from pytest_fcbench.cli import main\n"
        "sys.exit(main.main(sys.argv[1:]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "HF_ENDPOINT": hub.endpoint, "FCBENCH_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_asks_the_endpoint_of_the_environment(hub: Hub, cache: Path) -> None:
    done = _run_fcbench(hub, cache, "pull", "complexfuncbench")
    assert done.returncode == 1
    assert "127.0.0.1 has no dataset zai-org/ComplexFuncBench" in done.stderr
    assert [request.method for request in hub.requests] == ["HEAD"]


def test_the_command_does_not_ask_when_it_must_not(hub: Hub, cache: Path) -> None:
    done = _run_fcbench(hub, cache, "pull", "complexfuncbench", HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert "HF_HUB_OFFLINE is set, so no request is sent to 127.0.0.1" in done.stderr
    assert hub.requests == []


def test_suites_and_commands_do_without_the_library() -> None:
    """Only a pull brings it."""
    code = (
        "import sys, pytest_fcbench.suites, pytest_fcbench.cli.main, pytest_fcbench.cli.models;"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"huggingface_hub", "httpx"} & set(done.stdout.split())

"""Packs are made from a pinned wheel or folder, refused when anything is off, and checked when read."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import PackError, PackMissing
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.packs import CONSTANTS, Pack, WheelSource
from tests.factories import DEMO, PACKAGE, pin_source, write_tree, write_wheel

HOW = "run 'fcbench pull demo' (or 'fcbench pull demo --from PATH' without a network)"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return write_wheel(tmp_path / "demo_eval-1.0-py3-none-any.whl", PACKAGE)


@pytest.fixture
def source(wheel: Path, tmp_path: Path) -> WheelSource:
    """Pin the demo source to the wheel."""
    return pin_source(DEMO, wheel, tmp_path / "scratch")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def pack(source: WheelSource, wheel: Path, cache: Path) -> Pack:
    """Pull a pack into the cache."""
    return packs.pull(source, cache, wheel)


def _read_tree(folder: Path) -> dict[str, bytes]:
    """Read everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# What a pack holds


def test_a_pack_keeps_the_data_and_the_constants(pack: Pack, cache: Path) -> None:
    assert pack.folder == cache / "packs" / "demo" / "1.0"
    assert pack.files.keys() == {"rows.json", "answers/rows.json", CONSTANTS}
    assert _read_tree(pack.folder).keys() == {*pack.files, "pack.json"}
    assert pack.read("answers/rows.json").decode() == PACKAGE["demo_eval/data/answers/rows.json"]


def test_constants_are_read_from_sources_that_are_never_run(pack: Pack) -> None:
    """The sources of the demo package raise when they are run."""
    assert json.loads(pack.read(CONSTANTS)) == {"GREETING": "'ahoy'"}


def test_a_source_with_a_side_effect_has_none(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    files = {**PACKAGE, "demo_eval/constants.py": f"open({str(trace)!r}, 'w').close()\nGREETING = 'hi'\n"}
    wheel = write_wheel(tmp_path / "demo.whl", files)
    packs.pull(pin_source(DEMO, wheel, tmp_path / "scratch"), tmp_path / "cache", wheel)
    assert not trace.exists()
    assert not [name for name in sys.modules if name.startswith("demo_eval")]


def test_what_was_pulled_is_what_is_installed(pack: Pack, source: WheelSource, cache: Path) -> None:
    assert packs.open_pack(source, cache) == pack
    assert pack.content_sha256 == source.content_sha256


# Where it comes from


@pytest.mark.parametrize(
    ("inside", "extra"),
    [
        pytest.param(".", {}, id="unpacked wheel"),
        pytest.param("demo_eval", {}, id="folder of the package"),
        pytest.param(".", {"other/data/rows.json": "[]", "demo_evaluation/x.py": ""}, id="site-packages"),
    ],
)
def test_a_folder_gives_the_same_pack_as_the_wheel(
    source: WheelSource, pack: Pack, tmp_path: Path, inside: str, extra: Mapping[str, str]
) -> None:
    folder = write_tree(tmp_path / "unpacked", {**PACKAGE, **extra})
    other = packs.pull(source, tmp_path / "cache of its own", folder / inside)
    assert other.files == pack.files


def test_the_folder_of_the_package_may_be_the_working_directory(
    source: WheelSource, pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_tree(tmp_path / "unpacked", PACKAGE) / "demo_eval")
    assert packs.pull(source, tmp_path / "cache of its own", Path()).files == pack.files


def test_links_in_a_folder_are_not_followed(source: WheelSource, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "unpacked", PACKAGE)
    secret = write_tree(tmp_path / "home", {"secret.txt": "mine", "more/secret.txt": "mine too"})
    (folder / "demo_eval" / "data" / "link.txt").symlink_to(secret / "secret.txt")
    (folder / "demo_eval" / "data" / "links").symlink_to(secret / "more")
    assert "mine" not in str(packs.pull(source, tmp_path / "cache", folder).files)
    assert not [name for name in _read_tree(tmp_path / "cache") if "secret" in name or "link" in name]


def test_without_an_origin_pip_downloads_the_pinned_wheel_alone(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run_pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        shutil.copy(wheel, command[command.index("--dest") + 1])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run_pip)
    assert packs.pull(source, cache) == packs.open_pack(source, cache)
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert command[-1] == "demo-eval==1.0"
    assert {"--no-deps", "--only-binary"} <= set(command)


@pytest.mark.parametrize(
    ("returned", "stderr", "reason"),
    [
        pytest.param(
            1,
            "WARNING: slow\nERROR: No matching distribution\n",
            "ERROR: No matching distribution",
            id="error",
        ),
        pytest.param(0, "", "no output", id="no wheel came"),
    ],
)
def test_a_download_that_fails_names_the_other_way(
    source: WheelSource,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    returned: int,
    stderr: str,
    reason: str,
) -> None:
    done = subprocess.CompletedProcess([], returned, "", stderr)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(PackError) as caught:
        packs.pull(source, cache)
    assert str(caught.value) == (
        f"pip could not download demo-eval==1.0: {reason}\n"
        "If you have the wheel, run: fcbench pull demo --from PATH"
    )


# What is refused, and that the old pack survives it


def _expect_refusal(source: WheelSource, cache: Path, origin: Path) -> str:
    """Return why the origin is refused, and check that the cache is as it was before."""
    before = _read_tree(cache)
    with pytest.raises(PackError) as caught:
        packs.pull(source, cache, origin)
    assert _read_tree(cache) == before
    return str(caught.value)


def test_a_wheel_with_another_hash_is_refused(
    pack: Pack, source: WheelSource, wheel: Path, cache: Path
) -> None:
    with wheel.open("ab") as file:
        file.write(b"\n")
    says = _expect_refusal(source, cache, wheel)
    assert says.startswith("demo_eval-1.0-py3-none-any.whl is refused: its sha256 is ")
    assert says.endswith(
        f", but that of demo-eval 1.0 is {source.wheel_sha256}; give the wheel that the package index has"
    )
    assert packs.open_pack(source, cache).read("rows.json")


def test_a_folder_with_other_content_is_refused(
    pack: Pack, source: WheelSource, cache: Path, tmp_path: Path
) -> None:
    folder = write_tree(tmp_path / "unpacked", {**PACKAGE, "demo_eval/data/rows.json": "[]"})
    says = _expect_refusal(source, cache, folder)
    assert says.startswith("refused: the content is not that of demo-eval 1.0 (sha256 ")
    assert says.endswith(f", pinned {source.content_sha256}); pull without --from")
    assert packs.open_pack(source, cache).read("rows.json")


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"demo_eval/constants.py": "GREETING = 'hullo'\n"}, id="constant"),
        pytest.param({"demo_eval/data/more.json": "{}"}, id="further file"),
    ],
)
def test_content_is_all_files_and_constants(
    source: WheelSource, cache: Path, tmp_path: Path, changed: Mapping[str, str]
) -> None:
    folder = write_tree(tmp_path / "unpacked", {**PACKAGE, **changed})
    assert "the content is not that of" in _expect_refusal(source, cache, folder)


@pytest.mark.parametrize(
    "name",
    [
        "/demo_eval/data/x.json",
        "../x.json",
        "demo_eval/data/../../../x.json",
        "demo_eval/data/..",
        "..\\x.json",
        "\\x.json",
        "demo_eval\\data\\..\\..\\x.json",
        "C:/x.json",
        "C:\\x.json",
        "demo_eval/data/x.json:stream",
    ],
)
def test_an_unsafe_path_in_a_wheel_is_refused(
    pack: Pack, source: WheelSource, cache: Path, tmp_path: Path, name: str
) -> None:
    """Though its hash is right; nothing is written outside the cache."""
    wheel = write_wheel(tmp_path / "bad.whl", PACKAGE, (name, "x"))
    before = _read_tree(tmp_path)
    says = _expect_refusal(_with_hash_of(source, wheel), cache, wheel)
    assert says == f"refused: unsafe path {name!r} in the archive; download the wheel again"
    assert _read_tree(tmp_path) == before


def _with_hash_of(source: WheelSource, wheel: Path) -> WheelSource:
    return replace(source, wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())


def test_a_link_in_a_wheel_is_refused(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("demo_eval/data/link.json")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    wheel = write_wheel(tmp_path / "bad.whl", PACKAGE, (link, "/etc/hostname"))
    says = _expect_refusal(_with_hash_of(source, wheel), cache, wheel)
    assert says == "refused: 'demo_eval/data/link.json' is a link; download the wheel again"


def test_a_file_that_would_unpack_huge_is_refused(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    size = 65 * 2**20
    wheel = write_wheel(tmp_path / "bomb.whl", PACKAGE, ("demo_eval/data/zeros.json", "0" * size))
    says = _expect_refusal(_with_hash_of(source, wheel), cache, wheel)
    assert (
        says == f"refused: 'demo_eval/data/zeros.json' would unpack to {size} bytes; download the wheel again"
    )


def test_what_is_no_archive_is_refused(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "text.whl"
    wheel.write_text("not a wheel", encoding="utf-8")
    says = _expect_refusal(_with_hash_of(source, wheel), cache, wheel)
    assert says == "text.whl is not a wheel: File is not a zip file; download it again"


def test_an_origin_that_is_not_there_is_told(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    origin = tmp_path / "none.whl"
    assert _expect_refusal(source, cache, origin) == (
        f"{origin} does not exist; give the wheel of demo-eval or its unpacked folder"
    )


def test_a_folder_of_something_else_is_told(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "other", {"readme.txt": ""})
    assert _expect_refusal(source, cache, folder) == (
        f"{folder} has no demo_eval/data; give the wheel of demo-eval or its unpacked folder"
    )


def test_a_source_that_is_missing_is_told(source: WheelSource, cache: Path, tmp_path: Path) -> None:
    files = {name: text for name, text in PACKAGE.items() if name != "demo_eval/constants.py"}
    assert (
        _expect_refusal(source, cache, write_tree(tmp_path / "half", files))
        == "demo_eval/constants.py is missing"
    )


def test_a_source_that_is_no_text_is_refused_as_other_content(
    source: WheelSource, cache: Path, tmp_path: Path
) -> None:
    folder = write_tree(tmp_path / "odd", PACKAGE)
    (folder / "demo_eval" / "constants.py").write_bytes(b"GREETING = '\xff'\n")
    says = _expect_refusal(source, cache, folder)
    assert says.startswith("refused: the content is not that of demo-eval 1.0 (sha256 ")


def test_a_cache_that_cannot_be_written_is_told(source: WheelSource, wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "a file"
    cache.write_text("", encoding="utf-8")
    with pytest.raises(PackError, match=rf"^{re.escape(str(cache))}/packs/demo: Not a directory"):
        packs.pull(source, cache, wheel)


# Replacing


def test_a_wheel_that_cannot_be_read_is_not_blamed_on_the_cache(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(PackError, match=f"^{re.escape(str(wheel))}: Permission denied; make it readable$"):
        packs.pull(source, cache, wheel)


def test_a_pack_is_replaced_and_nothing_else_is_left(
    pack: Pack, source: WheelSource, wheel: Path, cache: Path
) -> None:
    (pack.folder / "rows.json").write_text("damaged", encoding="utf-8")
    (pack.folder / "stray.json").write_text("stray", encoding="utf-8")
    assert packs.pull(source, cache, wheel) == pack
    assert pack.read("rows.json").decode() == PACKAGE["demo_eval/data/rows.json"]
    assert not (pack.folder / "stray.json").exists()
    assert [path.name for path in (cache / "packs" / "demo").iterdir()] == ["1.0"]


def test_a_pull_that_fails_leaves_the_old_pack_and_no_scratch(
    pack: Pack, source: WheelSource, wheel: Path, cache: Path
) -> None:
    def raise_pack_error(texts: Mapping[str, str]) -> Mapping[str, object]:
        raise PackError("the package has changed")

    before = _read_tree(cache)
    with pytest.raises(PackError, match="the package has changed"):
        packs.pull(replace(source, read_constants=raise_pack_error), cache, wheel)
    assert _read_tree(cache) == before
    assert [path.name for path in (cache / "packs" / "demo").iterdir()] == ["1.0"]
    assert packs.open_pack(source, cache).read("rows.json")


def test_an_interrupted_pull_leaves_the_old_pack_and_no_scratch(
    pack: Pack, source: WheelSource, wheel: Path, cache: Path
) -> None:
    def raise_interrupt(texts: Mapping[str, str]) -> Mapping[str, object]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        packs.pull(replace(source, read_constants=raise_interrupt), cache, wheel)
    assert [path.name for path in (cache / "packs" / "demo").iterdir()] == ["1.0"]
    assert packs.open_pack(source, cache) == pack


def test_two_versions_stand_beside_each_other(
    pack: Pack, source: WheelSource, wheel: Path, cache: Path
) -> None:
    newer = packs.pull(replace(source, version="1.1"), cache, wheel)
    assert newer.folder != pack.folder
    assert packs.open_pack(source, cache) == pack


# Opening and reading


def test_a_missing_pack_names_the_commands_that_get_it(source: WheelSource, cache: Path) -> None:
    with pytest.raises(PackMissing) as caught:
        packs.open_pack(source, cache)
    assert str(caught.value) == f"suite 'demo' needs the pack demo-eval 1.0: {HOW}"


def test_asking_for_a_missing_pack_writes_nothing(source: WheelSource, cache: Path) -> None:
    with pytest.raises(
        PackMissing, match=r"suite 'demo' needs the pack demo-eval 1\.0: run 'fcbench pull demo'"
    ):
        packs.open_pack(source, cache)
    assert not cache.exists()


def test_a_pack_pinned_to_other_content_is_not_used(pack: Pack, source: WheelSource, cache: Path) -> None:
    with pytest.raises(PackError) as caught:
        packs.open_pack(replace(source, content_sha256="1" * 64), cache)
    assert str(caught.value) == f"pack demo was written by another version of fcbench: {HOW}"


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(b'{"content_sha256": "', id="cut"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe\x00", id="not text"),
        pytest.param(b"{}", id="nothing in it"),
        pytest.param(b"[]", id="a list"),
    ],
)
def test_a_damaged_manifest_is_told(pack: Pack, source: WheelSource, cache: Path, manifest: bytes) -> None:
    (pack.folder / "pack.json").write_bytes(manifest)
    with pytest.raises(PackError, match=r"^pack demo (is damaged|was written by another version)") as caught:
        packs.open_pack(source, cache)
    assert str(caught.value).endswith(HOW)


def test_a_manifest_without_files_is_told(pack: Pack, source: WheelSource, cache: Path) -> None:
    manifest = json.dumps({"content_sha256": source.content_sha256})
    (pack.folder / "pack.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(PackError, match="damaged"):
        packs.open_pack(source, cache)


def test_a_file_that_was_changed_is_not_read(pack: Pack) -> None:
    (pack.folder / "rows.json").write_text('{"id": "row_0", "answer": "mine"}', encoding="utf-8")
    with pytest.raises(PackError) as caught:
        pack.read("rows.json")
    assert str(caught.value) == (
        "pack demo: rows.json was changed after it was fetched; run 'fcbench pull demo'"
    )


def test_a_file_that_is_gone_is_told(pack: Pack) -> None:
    (pack.folder / "rows.json").unlink()
    with pytest.raises(PackError) as caught:
        pack.read("rows.json")
    assert str(caught.value) == "pack demo: rows.json is missing; run 'fcbench pull demo'"


def test_a_file_that_the_manifest_does_not_know_is_not_read(pack: Pack) -> None:
    (pack.folder / "stray.json").write_text("{}", encoding="utf-8")
    with pytest.raises(PackError, match=r"stray\.json was changed"):
        pack.read("stray.json")

"""The pages that a person opens, of real runs of the built-in models, as pictures in Chromium."""

from __future__ import annotations

import base64
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from selenium.webdriver import Chrome

from pytest_fcbench.cli.main import main as run_command
from pytest_fcbench.cli.main import make_parser
from pytest_fcbench.cli.run.pages import RunPages
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.scorecard.record import Usage
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from pytest_fcbench.server.pages import PageServer
from tests.conftest import ROOT
from tests.factories import FACTS, make_record, write_scorecard
from tests.parity.test_tables import REPLAY
from tests.performance.report import make_scorecards
from tests.present.html.parsed import render_report
from tests.served import served

FOLDER = ROOT / "docs" / "pictures"
DESKTOP, PHONE = 1280, 400
_HEIGHT, _KEPT_HEIGHT = 800, 680


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a page at one place, width and colour scheme."""

    page: str
    fragment: str
    width: int
    dark: bool
    kept: str = ""
    """Its name among the pictures of the docs; empty for one that is only looked at."""

    @property
    def name(self) -> str:
        """The name of its file."""
        place = self.fragment.partition("=")[0].strip("#") or "top"
        return self.kept or f"{self.page}-{place}-{self.width}-{'dark' if self.dark else 'light'}"


_KEPT = {
    ("one", "", DESKTOP, False): "report",
    ("one", "#verdict=failed&entry=core:simple_python_2", DESKTOP, False): "report-entry",
    ("one", "#verdict=failed&entry=core:simple_python_2", PHONE, True): "report-phone",
    ("three", "", DESKTOP, True): "report-three",
    ("runs", "", DESKTOP, False): "view",
    ("board", "", DESKTOP, False): "leaderboard",
    ("audit", "", DESKTOP, True): "audit",
    ("published", "", DESKTOP, False): "gpt-4o-mini",
}
PLACES: Mapping[str, Sequence[str]] = {
    "one": ("", "#verdict=failed&entry=core:simple_python_2", "#scores", "#errors"),
    "three": ("", "#verdict=models", "#scores", "#errors"),
    "many": ("", "#verdict=failed"),
    "runs": ("",),
    "board": ("",),
    "ranks": ("",),
    "compared": ("",),
    "audit": ("", "#check=default"),
    "published": ("",),
}
"""The places of each page: one run and three of 28 categories each, 10,000 entries, the list of runs, the
leaderboard of the three and one of twelve made-up models, two runs compared, an audit of ``core``, and
published answers."""


def list_pictures() -> Iterator[Picture]:
    """List every picture of every page."""
    for page, fragments in PLACES.items():
        for fragment in fragments:
            for width in (DESKTOP, PHONE):
                for dark in (False, True):
                    kept = _KEPT.get((page, fragment, width, dark), "")
                    yield Picture(page, fragment, width, dark, kept)


def write_runs(folder: Path, sample: int | None = None) -> None:
    """Run the benchmarks by three models, one of which breaks a fifth of its calls.

    The first is asked all entries, the others a sample of so many if one is given.
    """
    sampled = [f"--fcbench-sample={sample}"] if sample else []
    (folder / "fcbench.yaml").write_text(
        "gate: [non_live>=0.60]\nruns: runs\nstore: none\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", str(ROOT / "benchmarks"), "--rootdir", str(folder), "-q"]
    command += ["-p", "no:cacheprovider", "--fcbench-suite=core"]

    def run(*options: str) -> None:
        # The exit code tells of the gate, which some of these models do not hold.
        subprocess.run([*command, *options], cwd=folder, capture_output=True, check=False)

    run("--fcbench-model=lexical")
    with served("--model=oracle", "--name=oracle-broken", "--fault", "json:0.2") as api_base:
        at = [f"--fcbench-api-base={api_base}", "--fcbench-retries=0"]
        run("--fcbench-model=openai/oracle-broken", *at, *sampled)
    run("--fcbench-model=oracle", *sampled)


def write_published(cache: str, page: Path) -> None:
    """Score published answers in both modes, and write the page of function calling against prompt."""
    place = page.parent / "published"
    place.mkdir()
    (place / "result").symlink_to(REPLAY)
    command = ["pytest", str(ROOT / "benchmarks"), "--rootdir", str(place), "-q", "-p", "no:cacheprovider"]
    command += ["--fcbench-suite=bfcl", "--fcbench-category=non_live"]
    model = "--fcbench-model=replay:result/gpt-4o-mini-2024-07-18"
    for each in (
        [*command, model, "--fcbench-scorecard=prompt.json"],
        [*command, f"{model}-FC", "--fcbench-scorecard=fc.json"],
        ["pytest_fcbench", "run", "report", "fc.json", "--against", "prompt.json", "-o", str(page)],
    ):
        environment = {**os.environ, "FCBENCH_CACHE": cache}
        subprocess.run([sys.executable, "-m", *each], cwd=place, env=environment, check=False)


def write_pages(folder: Path, checks: Sequence[str] = ()) -> Mapping[str, Path]:
    """Write every page that is a file, of the runs in the current folder.

    That of published answers only where they and the pack of bfcl are. ``checks`` are those of the audit,
    all if none is named.
    """
    paths = {name: folder / f"{name}.html" for name in PLACES if name != "runs"}
    if (cache := os.environ.get("FCBENCH_TEST_CACHE")) and REPLAY.is_dir():
        write_published(cache, paths["published"])
    else:
        del paths["published"]
    lexical, broken, oracle = map(str, sorted(Path("runs").glob("*.json")))
    for name, runs in {"one": [lexical], "three": [lexical, broken, oracle]}.items():
        assert run_command(["run", "report", *runs, "-o", str(paths[name])]) == 0
    assert run_command(["run", "report", lexical, "-o", str(Path(lexical).with_suffix(".html"))]) == 0
    assert run_command(["run", "leaderboard", lexical, broken, oracle, "-o", str(paths["board"])]) == 0
    ranked = list(map(str, write_made_up_runs(folder)))
    ranks = ["--sort=simple_python", "-o", str(paths["ranks"])]
    assert run_command(["run", "leaderboard", *ranked, *ranks]) == 0
    assert run_command(["run", "compare", lexical, broken, "-o", str(paths["compared"])]) == 0
    chosen = [word for check in checks for word in ("--check", check)]
    assert run_command(["suite", "audit", "core", *chosen, "-o", str(paths["audit"])]) in (0, 1)
    cards, told = make_scorecards(10_000, 1, folder)
    paths["many"].write_text(
        render_report(list(map(load_scorecard, cards)), told, Profile.OFFICIAL), encoding="utf-8"
    )
    return paths


def write_made_up_runs(folder: Path) -> Iterator[Path]:
    """Write scorecards of twelve models that pass 40 to 95 % of 200 entries, with dollars and seconds."""
    chance = random.Random(7)
    wrong = Failed("value_error:string", "no such value")
    for number in range(12):
        share = 0.4 + 0.05 * number
        step = Usage(0.3 + 0.2 * number, 300, 40, 0.0004 * 1.6**number)
        records = [
            replace(make_record(Passed() if chance.random() < share else wrong, number=n), steps=(step,))
            for n in range(200)
        ]
        facts = replace(
            FACTS, model=f"openai/made-up-{number + 1}b-instruct", mode="fc" if number % 3 else "prompt"
        )
        yield write_scorecard(folder / f"made-up-{number}.json", records, facts)


@contextmanager
def serve_runs(folder: Path) -> Iterator[str]:
    """Serve the list of runs; yield its address."""
    chosen = make_parser(["run view"]).parse_args(["run", "view", str(folder)])
    with PageServer(0, RunPages(folder, folder, chosen).find_page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


def open_place(chrome: Chrome, address: str, picture: Picture) -> None:
    """Open a page as a picture shows it."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if picture.dark else "light"}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    chrome.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": picture.width,
            "height": _KEPT_HEIGHT if picture.kept else _HEIGHT,
            "deviceScaleFactor": 1,
            "mobile": picture.width == PHONE,
        },
    )
    chrome.get("about:blank")
    chrome.get(f"{address}{picture.fragment}")


def take_picture(chrome: Chrome, address: str, picture: Picture, folder: Path) -> Path:
    """Write the picture as PNG into a folder."""
    open_place(chrome, address, picture)
    time.sleep(0.3)  # for what is drawn after the page has been loaded
    shot = chrome.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    path = folder / f"{picture.name}.png"
    path.write_bytes(base64.b64decode(str(shot["data"])))
    return path

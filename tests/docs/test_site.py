"""The site builds without a warning and without a network; what is wrong in a page is a warning."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from sphinx.search.en import SearchEnglish

from tests.cases import each_case
from tests.conftest import ROOT

DOCS = ROOT / "docs"


def build_site(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d"]
    places = [str(target / "trees"), str(source), str(target / "html")]
    return subprocess.run([*command, *places], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages once."""
    target = tmp_path_factory.mktemp("site")
    done = build_site(DOCS, target)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return target / "html"


class _Loaded(HTMLParser):
    """What a page brings with it from elsewhere, where it leads, and the places in it."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.links: list[str] = []
        self.places: set[str | None] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places.add(given.get("id"))
        if tag == "a" and (link := given.get("href")):
            self.links.append(unquote(link))
        if tag in ("script", "img", "link", "iframe") and (address := given.get("src") or given.get("href")):
            self.addresses.append(address)


@pytest.mark.nightly
def test_every_page_is_there_and_loads_nothing_from_elsewhere(site: Path) -> None:
    names = {path.stem for path in DOCS.glob("*.md")}
    assert names <= {path.stem for path in site.glob("*.html")}
    for name in names:
        page = _Loaded()
        page.feed((site / f"{name}.html").read_text(encoding="utf-8"))
        assert [address for address in page.addresses if re.match(r"(\w+:)?//", address)] == []
    assert 'id="pytest_fcbench.domain.entry.Entry"' in (site / "api.html").read_text(encoding="utf-8")
    assert "fcbench-concurrency" in (site / "options.html").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_no_link_inside_the_site_is_dead(site: Path) -> None:
    pages = {path: _Loaded() for path in site.rglob("*.html")}
    for path, page in pages.items():
        page.feed(path.read_text(encoding="utf-8"))
    links = [(path, link) for path, page in pages.items() for link in page.links if "://" not in link]
    assert len(links) > 1000
    for path, link in links:
        name, _, place = link.partition("#")
        target = Path(os.path.normpath(path.parent / name)) if name else path
        assert target.is_file(), f"{path.name}: {link}"
        assert target not in pages or place in pages[target].places, f"{path.name}: {link}"


SEARCHED = {
    "MCP": "from-mcp",
    "trace": "faq",
    "OpenTelemetry": "from-logs",
    "pandas": "tasks",
    "wandb": "tasks",
    "MLflow": "tasks",
    "Azure": "providers",
    "Bedrock": "providers",
    "Docker": "tasks",
    "badge": "tasks",
    "Jupyter": "tasks",
    "screenshot": "tasks",
    "FAQ": "faq",
    "glossary": "glossary",
    "macOS": "platforms",
    "tutorial": "tutorial-endpoint",
    "Windows": "platforms",
    "proxy": "providers",
    "refused": "trouble",
    "Ollama": "providers",
    "W&B": "tasks",
}
"""Words that people search, and a page that the search must list."""


@pytest.mark.nightly
@each_case(("word", "page"), SEARCHED.items())
def test_a_search_finds_the_page(site: Path, word: str, page: str) -> None:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    language = SearchEnglish({})
    found = set(index["docnames"])
    # The search takes a query apart at everything that is not a letter, and looks for stems.
    for stem in (language.stem(part.lower()) for part in re.findall(r"\w+", word)):
        places = [index[kind].get(stem, []) for kind in ("terms", "titleterms")]
        numbers = {number for place in places for number in (place if isinstance(place, list) else [place])}
        found &= {index["docnames"][number] for number in numbers}
    assert page in found


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(("new.md", "# New\n"), "isn't included in any toctree", id="in no toctree"),
        pytest.param(("api.md", "# API\n\n[](nowhere.md)\n"), "nowhere.md", id="a dead link"),
    ],
)
def test_a_page_that_is_wrong_is_a_warning(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("_build", "*.md"))
    (source / "index.md").write_text("# Docs\n\n```{toctree}\napi\n```\n", encoding="utf-8")
    (source / "api.md").write_text("# API\n", encoding="utf-8")
    (source / change[0]).write_text(change[1], encoding="utf-8")
    done = build_site(source, tmp_path)
    assert done.returncode != 0
    assert says in done.stderr

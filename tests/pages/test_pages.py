"""Every page in Chromium: nothing serious for people with disabilities, no request, no error, quick."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.cases import each_case
from tests.pages.pages import (
    DESKTOP,
    PHONE,
    PLACES,
    Picture,
    list_pictures,
    open_place,
    serve_runs,
    write_pages,
    write_runs,
)
from tests.present.html.browser import find_faults, open_browser
from tests.present.html.test_browser import take_errors

pytestmark = pytest.mark.nightly
_PATIENCE_S = 30.0
"""Seconds within which 10,000 entries are there on a machine that does much else."""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def addresses(chrome: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """Write the pages of three real runs; yield their addresses."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_runs(folder, sample=280)
        pages = write_pages(folder, ("default", "greedy_trap", "duplicate"))
        with serve_runs(folder / "runs") as runs:
            yield {**{name: path.as_uri() for name, path in pages.items()}, "runs": runs}


# axe-core looks at the whole page, so a place at each width does, each in another colour scheme.
WIDE, NARROW = (
    [
        picture
        for picture in list_pictures()
        if picture.width == width
        and picture.dark == (width == PHONE)
        and picture.fragment == PLACES[picture.page][:2][place]
    ]
    for width, place in ((DESKTOP, 0), (PHONE, -1))
)


@each_case("picture", [*WIDE, *NARROW], ids=lambda picture: picture.name)
def test_a_page_has_no_fault(chrome: Chrome, addresses: Mapping[str, str], picture: Picture) -> None:
    if picture.page not in addresses:
        pytest.skip("published answers and the pack of bfcl are not here: FCBENCH_ORACLE, FCBENCH_TEST_CACHE")
    take_errors(chrome)
    open_place(chrome, addresses[picture.page], picture)
    assert take_errors(chrome) == []
    assert find_faults(chrome) == []
    sideways = chrome.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert sideways <= 0, "a page is not scrolled sideways"


def test_faults_are_found(chrome: Chrome, addresses: Mapping[str, str]) -> None:
    open_place(chrome, addresses["runs"], Picture("runs", "", 1280, False))
    chrome.execute_script("document.querySelector('main').append(document.createElement('button'))")
    assert ("critical", "button-name") in [fault[:2] for fault in find_faults(chrome)]


def test_labels_of_the_forest_plot_do_not_touch(chrome: Chrome, addresses: Mapping[str, str]) -> None:
    for page in ("one", "three"):
        for width in (1280, 400):
            open_place(chrome, addresses[page], Picture(page, "", width, False))
            boxes = chrome.execute_script(
                "return [...document.querySelectorAll('.forest :is(tbody th, text)')].map((label) => {"
                "const { left, right, top, bottom } = label.getBoundingClientRect();"
                "return [left, right, top, bottom] })"
            )
            assert len(boxes) > 40
            for place, (left, right, top, bottom) in enumerate(boxes):
                for other in boxes[place + 1 :]:
                    beside = other[0] >= right - 0.5 or other[1] <= left + 0.5
                    assert beside or other[2] >= bottom - 0.5 or other[3] <= top + 0.5


def test_four_questions_are_answered_on_the_first_screen(
    chrome: Chrome, addresses: Mapping[str, str]
) -> None:
    open_place(chrome, addresses["one"], Picture("one", "", 1280, False))
    answers = chrome.find_element(By.CLASS_NAME, "answers")
    assert answers.rect["y"] + answers.rect["height"] < 500, "the categories begin there, too"
    questions = ["How good?", "How sure?", "Worse than before?", "What first?"]
    assert [head.text for head in answers.find_elements(By.TAG_NAME, "h3")] == questions
    assert "gate broken: 1 rule" in answers.text
    assert "_" not in answers.text.partition("fcbench run show")[0], "no code names"
    chrome.find_element(By.PARTIAL_LINK_TEXT, "1,271 failed").click()
    WebDriverWait(chrome, _PATIENCE_S).until(
        lambda _: re.fullmatch(r"1,271 of 1,369 entries", chrome.find_element(By.ID, "count").text)
    )


@pytest.mark.parametrize("page", ["one", "three", "runs"])
def test_a_phone_shows_the_score_without_scrolling(
    chrome: Chrome, addresses: Mapping[str, str], page: str
) -> None:
    open_place(chrome, addresses[page], Picture(page, "", PHONE, False))
    score = next(
        each for each in chrome.find_elements(By.CSS_SELECTOR, ".figure, td strong") if "7.16%" in each.text
    )
    box = score.rect
    assert box["x"] + box["width"] <= PHONE
    assert box["y"] + box["height"] <= 640


def test_of_ten_thousand_entries_only_those_in_sight_are_drawn(
    chrome: Chrome, addresses: Mapping[str, str]
) -> None:
    open_place(chrome, addresses["many"], Picture("many", "", 1280, False))
    assert chrome.find_element(By.ID, "count").text == "10,000 of 10,000 entries"
    assert chrome.execute_script("return document.querySelectorAll('#rows > .row').length") < 60
    for place in (0.5, 1.0):
        chrome.execute_script(
            "const list = document.getElementById('list'); list.scrollTop = arguments[0] * list.scrollHeight",
            place,
        )
        WebDriverWait(chrome, _PATIENCE_S).until(partial(is_drawn, place=place))


def test_ten_thousand_entries_are_sorted(chrome: Chrome, addresses: Mapping[str, str]) -> None:
    open_place(chrome, addresses["many"], Picture("many", "", 1280, False))
    for column in ("question", "entry"):
        chrome.execute_script("document.querySelector(`[data-key=${arguments[0]}] button`).click()", column)
    assert chrome.find_element(By.CSS_SELECTOR, "#rows > .row .entry").text == "core:irrelevance_5"


def is_drawn(chrome: Chrome, place: float) -> bool:
    """Tell whether a row is drawn at this share of the list."""
    found: bool = chrome.execute_script(
        "return [...document.querySelectorAll('#rows > .row')].some((row) => "
        "Math.abs(row.ariaRowIndex / 10000 - arguments[0]) < 0.01)",
        place,
    )
    return found


def _wait_for_heading(chrome: Chrome, pattern: str) -> None:
    """Wait for a page whose whole heading matches; that of the page before may go while it is read."""
    wait = WebDriverWait(chrome, 60, ignored_exceptions=[StaleElementReferenceException])
    wait.until(lambda _: re.fullmatch(pattern, chrome.find_element(By.TAG_NAME, "h1").text))


def test_runs_are_chosen_and_compared(chrome: Chrome, addresses: Mapping[str, str]) -> None:
    open_place(chrome, addresses["runs"], Picture("runs", "", 1280, False))
    compare = chrome.find_element(By.ID, "compare")
    assert not compare.is_enabled()
    for box in chrome.find_elements(By.NAME, "run")[:2]:
        box.click()
    assert compare.text == "Compare 2 runs"
    compare.click()
    _wait_for_heading(chrome, ".*side by side.*")
    labels = [each.text for each in chrome.find_elements(By.CSS_SELECTOR, ".standings tbody th")]
    assert labels == ["openai/oracle-broken", "oracle"], "the oldest first"
    chrome.back()
    chrome.find_element(By.PARTIAL_LINK_TEXT, "lexical").click()
    _wait_for_heading(chrome, "lexical")


def read_column(chrome: Chrome, column: int) -> list[float]:
    """Return the values of a column of the leaderboard, from the top."""
    cells = chrome.find_elements(By.CSS_SELECTOR, f".board tbody tr:not([hidden]) > :nth-child({column})")
    return [float(str(cell.get_attribute("data-value"))) for cell in cells]


def test_the_leaderboard_is_sorted_by_click_and_by_keyboard(
    chrome: Chrome, addresses: Mapping[str, str]
) -> None:
    open_place(chrome, addresses["ranks"], Picture("ranks", "", 1280, False))
    heads = chrome.find_elements(By.CSS_SELECTOR, ".board thead button")
    scores = read_column(chrome, 3)
    assert scores == sorted(scores, reverse=True)
    heads[2].click()
    heads[2].click()
    assert read_column(chrome, 3) == sorted(scores)
    heads[0].send_keys(Keys.ENTER)
    assert read_column(chrome, 1) == sorted(read_column(chrome, 1))
    sorted_by = chrome.find_elements(By.CSS_SELECTOR, ".board thead [aria-sort]")
    assert [(head.text.split()[0], head.get_attribute("aria-sort")) for head in sorted_by] == [
        ("rank", "ascending")
    ]


def test_the_leaderboard_is_filtered_and_the_address_holds_the_filter(
    chrome: Chrome, addresses: Mapping[str, str]
) -> None:
    open_place(chrome, addresses["ranks"], Picture("ranks", "", 1280, False))
    chrome.find_element(By.NAME, "text").send_keys("up-1")
    count = chrome.find_element(By.ID, "narrowed")
    WebDriverWait(chrome, _PATIENCE_S).until(lambda _: count.text == "5 of 12 runs")
    address = chrome.current_url
    chrome.get("about:blank")
    chrome.get(f"{address}&mode=prompt")
    assert chrome.find_element(By.ID, "narrowed").text == "2 of 12 runs"
    assert len(read_column(chrome, 1)) == 2
    chrome.find_element(By.CSS_SELECTOR, "[type=reset]").click()
    WebDriverWait(chrome, _PATIENCE_S).until(lambda _: len(read_column(chrome, 1)) == 12)
    assert "#" not in chrome.current_url


def test_a_model_leads_to_its_report(chrome: Chrome, addresses: Mapping[str, str]) -> None:
    open_place(chrome, addresses["board"], Picture("board", "", 1280, False))
    links = chrome.find_elements(By.CSS_SELECTOR, ".board tbody a")
    assert [link.text for link in links] == ["lexical"], "the only run whose report lies beside it"
    links[0].click()
    _wait_for_heading(chrome, "lexical")


def test_findings_are_filtered_by_a_check_and_reached_by_their_address(
    chrome: Chrome, addresses: Mapping[str, str]
) -> None:
    open_place(chrome, addresses["audit"], Picture("audit", "", 1280, False))
    first = chrome.find_element(By.CSS_SELECTOR, ".checks tbody th a")
    name = first.text
    first.click()
    count = chrome.find_element(By.ID, "narrowed")
    number = len(chrome.find_elements(By.CSS_SELECTOR, "[data-item]"))
    WebDriverWait(chrome, _PATIENCE_S).until(lambda _: not count.text.startswith(f"{number} "))
    shown = chrome.find_elements(By.CSS_SELECTOR, "[data-item]:not([hidden])")
    assert {item.get_attribute("data-check") for item in shown} == {name}
    heads = chrome.find_elements(By.CSS_SELECTOR, ".group:not([hidden]) h3")
    assert heads
    assert all(name in head.text for head in heads)
    hidden = chrome.find_element(By.CSS_SELECTOR, f"[data-item]:not([data-check={name}])")
    chrome.execute_script("location.hash = arguments[0]", hidden.get_attribute("id"))
    WebDriverWait(chrome, _PATIENCE_S).until(lambda _: hidden.is_displayed())
    assert count.text == f"{number} of {number} findings", (
        "an address of a finding shows it in spite of a filter"
    )

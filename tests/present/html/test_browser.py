"""The page in Chromium, opened from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from pytest_fcbench.domain.explanation import ArgumentPair, CallPair, Explanation
from pytest_fcbench.domain.transcript import Completion, completion_to_json
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from tests.cases import each_case
from tests.factories import FACTS, make_entry, make_record, write_scorecard
from tests.present.html.browser import find_faults, open_browser, open_page
from tests.present.html.parsed import render_report

EVIL = (
    "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"
    "<svg onload='window.pwned=3'>{{7*7}}\u202egnp.exe\u202c\u200b\u0000\u0000\u0000\ud800 <!-- "
    "`${window.pwned=4}`"
)
HOSTILE = 3
"""The number of the entry whose every text is hostile."""


def make_records(number: int = 250) -> list[Record]:
    made = []
    for n in range(number):
        category = ("simple_python", "parallel")[n % 2]
        verdict = Failed("wrong_count", f"{n} calls came, 1 expected") if n % 5 == 0 else Passed()
        made.append(make_record(verdict, Passed(), category=category, number=n))
    evil = Failed(f"code {EVIL}", EVIL, {"found": EVIL, EVIL: EVIL})
    said = ((completion_to_json(Completion(EVIL, reasoning=EVIL)),),)
    made[HOSTILE] = replace(made[HOSTILE], verdicts=make_record(evil).verdicts, turns=said)
    made[4] = make_record(NotScored("timeout", "it took too long"), number=4)
    return made


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Write a report about one scorecard and one about two."""
    folder = tmp_path_factory.mktemp("pages")
    facts = replace(FACTS, model=f"model {EVIL}", notes=(EVIL,))
    better = [replace(record, verdicts=make_record().verdicts) for record in make_records()]
    cards = [
        scorecard_files.load_scorecard(write_scorecard(folder / "one.json", make_records(), facts)),
        scorecard_files.load_scorecard(write_scorecard(folder / "two.json", better)),
    ]
    entries = [
        make_entry("parallel", query=EVIL, entry_id=f"parallel_{HOSTILE}"),
        make_entry(query="Ein Zelt für drei Nächte in Åndalsnes, bitte.", entry_id="simple_python_8"),
    ]
    compared = CallPair(
        EVIL, "f", True, (ArgumentPair(EVIL, "2", "2", False), ArgumentPair("x", EVIL, "one", True))
    )
    failed = make_records()[HOSTILE].item_id
    told = SuiteInfo(
        {entry.key: entry for entry in entries},
        notes=(EVIL,),
        explanations={(0, failed): (Profile.OFFICIAL, Explanation((), calls=(compared,)))},
        truths={entry.key: find_kind(entry).describe_truth(entry) for entry in entries},
    )
    paths = [folder / "one.html", folder / "two.html"]
    for path, shown in zip(paths, (cards[:1], cards), strict=True):
        path.write_text(render_report(shown, told, Profile.OFFICIAL), encoding="utf-8", newline="\n")
    return paths


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with open_browser() as browser:
        yield browser


def find_rows(chrome: Chrome) -> list[WebElement]:
    return chrome.find_elements(By.CSS_SELECTOR, "#rows > .row")


def read_ids(chrome: Chrome) -> list[str]:
    """Return the entries whose rows are drawn."""
    found: list[str] = chrome.execute_script(
        "return [...document.querySelectorAll('#rows > .row')].map((row) => row.dataset.id)"
    )
    return found


def read_shown(chrome: Chrome) -> str:
    return chrome.find_element(By.CSS_SELECTOR, "#detail .id").text


def read_count(chrome: Chrome) -> str:
    return chrome.find_element(By.ID, "count").text


def wait_for(chrome: Chrome, text: str) -> None:
    try:
        WebDriverWait(chrome, 5).until(lambda _: read_count(chrome) == text)
    except TimeoutException:
        assert read_count(chrome) == text  # says what it was instead


def find_field(chrome: Chrome, name: str) -> WebElement:
    return chrome.find_element(By.NAME, name)


def choose_value(chrome: Chrome, name: str, value: str) -> None:
    Select(find_field(chrome, name)).select_by_value(value)


def take_errors(chrome: Chrome) -> list[dict[str, Any]]:
    logged: list[dict[str, Any]] = chrome.get_log("browser")  # type: ignore[no-untyped-call]
    return logged


def take_requests(chrome: Chrome) -> list[str]:
    """Return the addresses that pages from files asked for since the last question."""
    log: list[dict[str, str]] = chrome.get_log("performance")  # type: ignore[no-untyped-call]
    events = [json.loads(line["message"])["message"] for line in log]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    # A new browser asks for the parts of its own first page.
    return [params["request"]["url"] for params in sent if params["documentURL"].startswith("file:")]


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [0, 1])
def test_nothing_is_loaded_nothing_runs_and_nothing_is_wrong(
    chrome: Chrome, pages: Sequence[Path], number: int
) -> None:
    take_errors(chrome), take_requests(chrome)
    open_page(chrome, pages[number], f"#entry=core:parallel_{HOSTILE}")
    for fold in chrome.find_elements(By.CSS_SELECTOR, "#detail .fold > summary"):
        fold.click()
    assert take_errors(chrome) == []
    assert take_requests(chrome) == [f"{pages[number].as_uri()}"]
    assert chrome.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert chrome.execute_script("return window.pwned === undefined")
    assert chrome.execute_script("return document.scripts.length") == 3
    assert chrome.find_elements(By.CSS_SELECTOR, "img, iframe, #list script, #list svg[onload]") == []


def test_what_is_wrong_in_an_answer_is_marked(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], f"#entry=core:parallel_{HOSTILE}")
    rows = chrome.find_elements(By.CSS_SELECTOR, "#detail .compared tbody tr")
    assert [row.get_attribute("class") for row in rows] == ["call wrong", "", "wrong"]
    assert [mark.text for mark in rows[2].find_elements(By.TAG_NAME, "mark")][-1] == "one"
    assert [cell.text for cell in rows[1].find_elements(By.TAG_NAME, "td")][2:] == ["2", "2"]


def test_the_policy_would_stop_what_got_into_the_page(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    chrome.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.pwned = 5';"
        "document.body.append(s); const p = document.createElement('p');"
        'p.innerHTML = \'<b onclick="window.pwned=6" style="color:red">x\';'
        "document.body.append(p); p.firstChild.click(); new Image().src = 'http://127.0.0.1:9/x';"
    )
    assert chrome.execute_script("return window.pwned === undefined")
    refused = [line["message"] for line in take_errors(chrome)]
    assert len([line for line in refused if "Content Security Policy" in line]) >= 4


def test_hostile_texts_are_shown_as_text(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], f"#entry=core:parallel_{HOSTILE}")
    row = chrome.find_element(By.ID, "detail")
    assert "<script>window.pwned=1</script>" in row.text
    assert "{{7*7}}" in row.text
    marks = {mark.text for mark in row.find_elements(By.CLASS_NAME, "odd")}
    assert {"U+202E", "U+202C", "U+200B", "U+0000 ×3", "U+D800"} <= marks
    shown = chrome.execute_script("return document.getElementById('detail').textContent")
    assert not set(shown) & set("\u202e\u202c\u200b\u0000")


def test_texts_of_models_are_isolated(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], f"#entry=core:parallel_{HOSTILE}")
    styles = chrome.execute_script(
        "return [...document.querySelectorAll(':is(#detail :is(pre, bdi, td), .row .gist)')]"
        ".map((shown) => getComputedStyle(shown).unicodeBidi)"
    )
    assert len(styles) > 10
    assert set(styles) <= {"isolate", "plaintext", "isolate-override"}


def test_filters_narrow_the_list_and_a_reset_widens_it(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    assert read_count(chrome) == "250 of 250 entries"
    choose_value(chrome, "category", "parallel")
    wait_for(chrome, "125 of 250 entries")
    choose_value(chrome, "verdict", "failed")
    wait_for(chrome, "26 of 250 entries")
    choose_value(chrome, "profile", "corrected")
    wait_for(chrome, "1 of 250 entries")
    chrome.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    wait_for(chrome, "250 of 250 entries")
    choose_value(chrome, "code", "timeout")
    wait_for(chrome, "1 of 250 entries")
    assert read_ids(chrome) == ["core:simple_python_4"]
    chrome.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    choose_value(chrome, "verdict", "profiles")
    wait_for(chrome, "50 of 250 entries")


@pytest.mark.nightly
@each_case(
    ("text", "found"),
    [
        ("ZELT åndalsnes", ["core:simple_python_8"]),
        ("<SCRIPT>window", [f"core:parallel_{HOSTILE}"]),
        ("onerror='window", [f"core:parallel_{HOSTILE}"]),
        ("took too long", ["core:simple_python_4"]),
        ("verdicts", []),
        ("nowhere-to-be-found", []),
    ],
)
def test_search_finds_texts_and_no_names_of_members(
    chrome: Chrome, pages: Sequence[Path], text: str, found: list[str]
) -> None:
    open_page(chrome, pages[0])
    find_field(chrome, "text").send_keys(text)
    wait_for(chrome, f"{len(found)} of 250 entries")
    assert read_ids(chrome) == found


def test_only_rows_in_sight_are_drawn_and_all_are_reached(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    assert 10 < len(find_rows(chrome)) < 60
    last = "core:parallel_249"
    assert last not in read_ids(chrome)
    chrome.execute_script("const list = document.getElementById('list'); list.scrollTop = list.scrollHeight")
    WebDriverWait(chrome, 5).until(lambda _: last in read_ids(chrome))
    (row,) = (row for row in find_rows(chrome) if row.get_attribute("data-id") == last)
    rows = chrome.find_element(By.ID, "list").get_attribute("aria-rowcount")
    assert row.get_attribute("aria-rowindex") == rows == "251", "the heads are a row, too"
    row.click()
    assert read_shown(chrome) == last


def test_failures_come_first(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    assert [row.find_element(By.CLASS_NAME, "badge").text for row in find_rows(chrome)[:5]] == [
        "✗ failed"
    ] * 5
    assert read_shown(chrome) == read_ids(chrome)[0], "the worst is shown beside the list"


def press(chrome: Chrome, *keys: str) -> None:
    for key in keys:
        chrome.switch_to.active_element.send_keys(key)


@pytest.mark.nightly
def test_keys_go_to_the_next_and_the_previous_entry(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], "#verdict=failed")
    first, second, third = read_ids(chrome)[:3]
    press(chrome, "j")
    assert read_shown(chrome) == second
    press(chrome, "n", "k")
    assert read_shown(chrome) == second
    press(chrome, Keys.ARROW_DOWN)
    assert read_shown(chrome) == third
    press(chrome, Keys.HOME)
    assert read_shown(chrome) == first
    chrome.find_element(By.ID, "next").click()
    assert read_shown(chrome) == second
    assert chrome.current_url.endswith(f"#verdict=failed&entry={second.replace(':', '%3A')}")
    press(chrome, "/")
    assert chrome.switch_to.active_element.get_attribute("name") == "text"
    press(chrome, "j")
    assert read_shown(chrome) == second, "a letter of a search is no command"


@pytest.mark.nightly
def test_the_keyboard_reaches_the_list_and_the_entry(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    chrome.switch_to.active_element.send_keys(Keys.TAB)
    assert chrome.switch_to.active_element.text == "Skip to the entries"
    chrome.switch_to.active_element.send_keys(Keys.ENTER)
    assert chrome.execute_script("return document.activeElement.id") == "entries"
    heads = ["verdict", "entry", "question", "category", "cause"]
    reached = []
    for _ in range(11 + len(heads)):
        chrome.switch_to.active_element.send_keys(Keys.TAB)
        active = chrome.switch_to.active_element
        reached.append(active.get_attribute("name") or active.get_attribute("id") or active.text)
    fields = ["text", "verdict", "category", "code", "profile", "Clear", "Columns"]
    assert reached == [*fields, "list", *heads, "next", "link", "detail"]
    outline = chrome.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_an_address_leads_to_an_entry_far_down_the_list(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], "#entry=core:parallel_249")
    assert read_shown(chrome) == "core:parallel_249"
    assert chrome.execute_script("return document.activeElement.id") == "detail"
    assert "core:parallel_249" in read_ids(chrome)
    assert chrome.execute_script(
        "const { top } = document.getElementById('detail').getBoundingClientRect();"
        "return top >= 0 && top < innerHeight"
    )


def test_addresses_hold_filters_and_follow_them(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    choose_value(chrome, "category", "parallel")
    wait_for(chrome, "125 of 250 entries")
    assert chrome.current_url.endswith("#category=parallel")
    open_page(chrome, pages[0], "#category=parallel&verdict=failed")
    assert read_count(chrome) == "26 of 250 entries"
    chrome.execute_script("document.querySelector('a[href=\"#code=wrong_count\"]').click()")
    wait_for(chrome, "50 of 250 entries")
    find_rows(chrome)[2].click()
    WebDriverWait(chrome, 5).until(lambda _: "#code=wrong_count&entry=core" in chrome.current_url)


def test_the_link_to_an_entry_can_be_copied(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], "#verdict=failed")
    button = chrome.find_element(By.ID, "link")
    button.click()
    WebDriverWait(chrome, 5).until(lambda _: button.text in ("Copied", "Selected"))
    shown = read_shown(chrome)
    open_page(chrome, pages[0], f"#{chrome.current_url.partition('#')[2]}")
    assert (read_shown(chrome), read_count(chrome)) == (shown, "51 of 250 entries")


def test_tables_are_put_in_the_order_of_a_column(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[1])
    heads = chrome.find_elements(By.CSS_SELECTOR, ".scores thead th")
    names = (
        "return [...document.querySelectorAll('.scores tbody:first-of-type th')].map((th) => th.textContent)"
    )
    before = chrome.execute_script(names)
    heads[1].find_element(By.TAG_NAME, "button").click()
    assert heads[1].get_attribute("aria-sort") == "descending"
    heads[1].find_element(By.TAG_NAME, "button").click()
    assert heads[1].get_attribute("aria-sort") == "ascending"
    values = [
        float(str(cell.get_attribute("data-value")))
        for cell in chrome.find_elements(By.CSS_SELECTOR, ".scores tbody:first-of-type td:nth-child(2)")
    ]
    assert values == sorted(values)
    heads[0].find_element(By.TAG_NAME, "button").click()
    assert chrome.execute_script(names) == sorted(before), "names are read from A"


def find_head(chrome: Chrome, key: str) -> WebElement:
    return chrome.find_element(By.CSS_SELECTOR, f"#heads [data-key='{key}']")


def read_cells(chrome: Chrome, kind: str) -> list[str]:
    """Return the texts of a column of the list, as far as its rows are drawn."""
    cells: list[str] = chrome.execute_script(
        "return [...document.querySelectorAll(`#rows .${arguments[0]}`)].map((cell) => cell.textContent)",
        kind,
    )
    return cells


def test_entries_are_sorted_by_a_click_and_by_the_keyboard(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0], "#verdict=passed")
    usual = read_ids(chrome)
    head = find_head(chrome, "entry")
    assert head.get_attribute("aria-sort") == "none"
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert read_ids(chrome)[:2] == ["core:parallel_1", "core:parallel_7"], (
        "numbers by their value, not their digits"
    )
    chrome.switch_to.active_element.send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert read_ids(chrome)[0] == "core:simple_python_248"
    assert read_shown(chrome) == "core:simple_python_248"
    assert chrome.current_url.endswith("#verdict=passed&order=-entry")
    chrome.switch_to.active_element.send_keys(Keys.SPACE)
    assert (head.get_attribute("aria-sort"), read_ids(chrome)) == ("none", usual)


def test_an_unknown_value_stands_last_in_both_directions(chrome: Chrome, pages: Sequence[Path]) -> None:
    for order in ("cause", "-cause"):
        open_page(chrome, pages[0], f"#order={order}")
        causes = read_cells(chrome, "cause")
        assert "" not in causes
        assert causes == sorted(causes, reverse=order == "-cause")


@pytest.mark.nightly
def test_columns_are_chosen_and_the_address_holds_them(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[0])
    chrome.find_element(By.CSS_SELECTOR, "#columns summary").click()
    boxes = {
        str(box.get_attribute("value")): box
        for box in chrome.find_elements(By.CSS_SELECTOR, "#columns input")
    }
    assert {name for name, box in boxes.items() if box.is_selected()} == set(boxes)
    assert "seconds" not in boxes, "nothing is known of them"
    for name in ("question", "cause"):
        boxes[name].send_keys(Keys.SPACE)
    assert chrome.current_url.endswith("#columns=verdict.entry.category")
    address = chrome.current_url.partition("#")[2]
    open_page(chrome, pages[0], f"#{address}")
    assert [head.text.split()[0] for head in chrome.find_elements(By.CSS_SELECTOR, "#heads .cell")] == [
        "verdict",
        "entry",
        "category",
    ]
    chrome.execute_script("document.querySelector('a[href=\"#verdict=failed\"]').click()")
    wait_for(chrome, "51 of 250 entries")
    assert chrome.find_elements(By.CSS_SELECTOR, "#rows .cell.question") == [], "a link keeps the columns"


def test_nobody_is_kept_out(chrome: Chrome, pages: Sequence[Path]) -> None:
    """Of people with disabilities. The other pages, widths and colours: ``tests/pages``."""
    open_page(chrome, pages[0])
    assert find_faults(chrome) == []
    chrome.execute_script("document.querySelector('main').append(document.createElement('button'))")
    assert ("critical", "button-name") in [fault[:2] for fault in find_faults(chrome)]


@each_case("fragment", ["#columns=nothing", "#order=nothing", "#order=-&columns=.."])
def test_columns_that_there_are_not_do_no_harm(chrome: Chrome, pages: Sequence[Path], fragment: str) -> None:
    take_errors(chrome)
    open_page(chrome, pages[0], fragment)
    assert len(chrome.find_elements(By.CSS_SELECTOR, "#heads .cell")) == 5
    assert len(read_ids(chrome)) > 10
    assert take_errors(chrome) == []


def test_each_run_has_its_own_columns(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[1])
    keys = [head.get_attribute("data-key") for head in chrome.find_elements(By.CSS_SELECTOR, "#heads .cell")]
    assert keys == ["verdict.0", "verdict.1", "entry", "question", "cause.0", "cause.1"]
    find_head(chrome, "verdict.0").find_element(By.TAG_NAME, "button").click()
    assert chrome.current_url.endswith("#order=verdict.0")
    badges = [
        row.find_element(By.CLASS_NAME, "badge").get_attribute("title") for row in find_rows(chrome)[:3]
    ]
    assert all(str(title).endswith("failed") for title in badges)


@pytest.fixture(scope="module")
def two_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page of two runs whose answers to the first entry differ and to the second are the same."""
    folder = tmp_path_factory.mktemp("answers")
    answers = ("Book a table for 14 at noon, please.", "Book a table for 4 at noon, please.")
    cards = []
    for run, texts in enumerate(([answers[0], "Yes."], [answers[1], "Yes."])):
        records = [
            replace(make_record(number=n), turns=((completion_to_json(Completion(text)),),))
            for n, text in enumerate(texts)
        ]
        facts = replace(FACTS, model=f"run {run}")
        cards.append(scorecard_files.load_scorecard(write_scorecard(folder / f"{run}.json", records, facts)))
    entries = [make_entry(entry_id=f"simple_python_{n}") for n in range(2)]
    told = SuiteInfo({entry.key: entry for entry in entries})
    path = folder / "page.html"
    path.write_text(render_report(cards, told, Profile.OFFICIAL), encoding="utf-8", newline="\n")
    return path


@pytest.mark.nightly
@each_case(("width", "is_beside"), [(1280, True), (400, False)])
def test_whole_answers_of_two_runs_stand_side_by_side_with_differences_marked(
    chrome: Chrome, two_answers: Path, width: int, is_beside: bool
) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == 400}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_page(chrome, two_answers, "#entry=core:simple_python_0")
        first, second = chrome.find_elements(By.CSS_SELECTOR, "#detail .sides .answer")
        assert (first.rect["y"] == second.rect["y"], first.rect["x"] == second.rect["x"]) == (
            is_beside,
            not is_beside,
        )
        assert first.text == "Book a table for 14 at noon, please."
        assert [
            [mark.text for mark in side.find_elements(By.TAG_NAME, "mark")] for side in (first, second)
        ] == [
            ["14"],
            ["4"],
        ]
        open_page(chrome, two_answers, "#entry=core:simple_python_1")
        assert chrome.find_elements(By.CSS_SELECTOR, "#detail mark") == []
        assert "run 1: the same as run 0" in chrome.find_element(By.ID, "detail").text
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@each_case("fragment", ["#entry=nothing", "#verdict=nonsense", "#entry=%E0%A4%A", "#a&b==&entry"])
def test_wrong_addresses_do_no_harm(chrome: Chrome, pages: Sequence[Path], fragment: str) -> None:
    take_errors(chrome)
    open_page(chrome, pages[0], fragment)
    assert read_count(chrome) == "250 of 250 entries"
    assert take_errors(chrome) == []


def test_two_models_are_told_apart(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[1])
    badges = find_rows(chrome)[0].find_elements(By.CLASS_NAME, "badge")
    assert [str(badge.get_attribute("title"))[-6:] for badge in badges] == ["failed", "passed"]
    choose_value(chrome, "verdict", "better")
    wait_for(chrome, "51 of 250 entries")
    choose_value(chrome, "verdict", "worse")
    wait_for(chrome, "0 of 250 entries")
    choose_value(chrome, "verdict", "models")
    wait_for(chrome, "52 of 250 entries")
    choose_value(chrome, "verdict", "failed")
    choose_value(chrome, "model", "1")
    wait_for(chrome, "0 of 250 entries")
    choose_value(chrome, "model", "0")
    wait_for(chrome, "51 of 250 entries")


def test_commands_can_be_copied(chrome: Chrome, pages: Sequence[Path]) -> None:
    open_page(chrome, pages[1], "#entry=core:simple_python_8")
    commands = [code.text for code in chrome.find_elements(By.CSS_SELECTOR, ".command code")]
    assert commands[-2].startswith(
        'pytest "benchmarks/test_x.py::test_x[core:simple_python_8]" --fcbench-model=test '
    )
    assert commands[-1].startswith("fcbench run show core:simple_python_8 --scorecard ")
    assert "pwned" not in " ".join(commands), "a model's name with control characters makes no command"
    button = chrome.find_elements(By.CSS_SELECTOR, ".command button")[-1]
    button.click()
    WebDriverWait(chrome, 5).until(lambda _: button.text in ("Copied", "Selected"))


@pytest.mark.parametrize("number", [0, 1])
def test_a_phone_shows_all_without_scrolling_sideways(
    chrome: Chrome, pages: Sequence[Path], number: int
) -> None:
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        open_page(chrome, pages[number], f"#entry=core:parallel_{HOSTILE}")
        wide = chrome.execute_script(
            "return [...document.querySelectorAll('body *')].filter((shown) => "
            "!shown.closest('.wide, pre, code, svg, nav, #list') && "
            "shown.getBoundingClientRect().right > 360)"
            ".map((shown) => shown.outerHTML.slice(0, 80))"
        )
        assert wide == []
        assert chrome.execute_script("return document.documentElement.scrollWidth") == 360
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_shows_the_list_or_an_entry(chrome: Chrome, pages: Sequence[Path]) -> None:
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        open_page(chrome, pages[0], "#verdict=failed")
        panes = chrome.find_element(By.ID, "list"), chrome.find_element(By.ID, "detail")
        assert [pane.is_displayed() for pane in panes] == [True, False]
        assert panes[0].size["height"] > 300
        # In one step, because rows are drawn anew when the list moves.
        chrome.execute_script("document.querySelectorAll('#rows > .row')[1].click()")
        assert [pane.is_displayed() for pane in panes] == [False, True]
        chrome.find_element(By.ID, "back").click()
        assert [pane.is_displayed() for pane in panes] == [True, False]
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_only_an_entry_that_was_chosen_is_printed(chrome: Chrome, pages: Sequence[Path]) -> None:
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for fragment, is_shown in (("", False), ("#entry=core:simple_python_8", True)):
            open_page(chrome, pages[0], fragment)
            assert chrome.find_element(By.ID, "detail").is_displayed() is is_shown
            assert not chrome.find_element(By.ID, "filter").is_displayed()
            assert not chrome.find_element(By.ID, "list").is_displayed()
    finally:
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

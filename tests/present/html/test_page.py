"""The page: its policy fits its blocks, nothing in it runs or loads, every text is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.transcript import Completion, completion_to_json
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SET_ASIDE,
    CallVerdict,
    Difference,
    Failed,
    NotScored,
    Passed,
    Profile,
)
from pytest_fcbench.present.html import sections
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.present.html.page import group_categories, judge_runs
from pytest_fcbench.present.html.sections import ReportedModel
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.scores import GROUPS
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.run_facts import RuleOutcome, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import (
    FACTS,
    make_call_verdict,
    make_entry,
    make_path_record,
    make_path_score,
    make_record,
    write_scorecard,
)
from tests.present.html.parsed import Parsed, render_report
from tests.present.html.test_island import HOSTILE
from tests.present.html.test_sections import prepare_runs


def make_hostile_call() -> CallVerdict:
    difference = Difference(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    made = {HOSTILE: HOSTILE}
    return make_call_verdict(
        name=HOSTILE, made=made, stage=HOSTILE, code=HOSTILE, reason=HOSTILE, differences=[difference]
    )


def make_hostile_records() -> list[Record]:
    wrong = Failed(f"code {HOSTILE}", f"reason {HOSTILE}", {"found": HOSTILE})
    said = ((completion_to_json(Completion(HOSTILE, reasoning=HOSTILE)),),)
    steps = (Usage(1.0, 10, 5, 0.01),)
    return [
        replace(make_record(wrong, Passed()), turns=said, steps=steps),
        *(make_record(category=name, steps=steps) for name in ("parallel", "multiple", "live_simple")),
        make_record(NotScored(HOSTILE, HOSTILE), category="irrelevance"),
        replace(make_record(number=7), category=f"odd {HOSTILE}", entry=f"core:{HOSTILE}"),
        make_path_record(Failed(f"code {HOSTILE}", HOSTILE), path=make_path_score(make_hostile_call())),
    ]


def load_card(
    folder: Path, name: str = "card", records: Sequence[Record] = (), facts: RunFacts = FACTS
) -> Scorecard:
    path = write_scorecard(folder / f"{name}.json", records or make_hostile_records(), facts)
    return replace(
        scorecard_files.load_scorecard(path), gate=(RuleOutcome("overall>=0.05", "held", HOSTILE),)
    )


def load_hostile_card(folder: Path, name: str) -> Scorecard:
    facts = replace(
        FACTS, model=f"{name} {HOSTILE}", notes=(HOSTILE,), suites={HOSTILE: FACTS.suites["core"]}
    )
    return load_card(folder, name, facts=facts)


@pytest.fixture(scope="module", params=[1, 2, 8])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("cards")
    cards = [load_hostile_card(folder, f"card{n}") for n in range(request.param)]
    entry = make_entry(query=HOSTILE)
    return render_report(cards, SuiteInfo({entry.key: entry}, notes=(HOSTILE,)), Profile.OFFICIAL)


def read_policy(parsed: Parsed) -> str:
    (told,) = [
        e for e in parsed.find_all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    return told.attributes["content"]


def hash_text(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_allows_the_blocks_of_the_page_and_nothing_else(page: str) -> None:
    parsed = Parsed(page)
    (style,) = parsed.find_all("style")
    (script,) = [element for element in parsed.find_all("script") if "type" not in element.attributes]
    assert read_policy(parsed) == (
        f"default-src 'none'; style-src 'sha256-{hash_text(style.text)}'; "
        f"script-src 'sha256-{hash_text(script.text)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "unsafe" not in read_policy(parsed)


def test_the_policy_stands_before_whatever_it_speaks_of(page: str) -> None:
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")


def test_nothing_in_the_markup_runs_styles_or_loads(page: str) -> None:
    for element in Parsed(page).elements:
        assert element.tag not in ("iframe", "object", "embed", "img", "base", "audio", "video")
        for name, value in element.attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in ("href", "src", "action", "xlink:href"):
                assert value.startswith("#") or value == "data:,", value


def test_only_the_page_has_elements(page: str) -> None:
    parsed = Parsed(page)
    assert len(parsed.find_all("script")) == 3
    assert "pwned" not in "".join(
        element.text for element in parsed.find_all("script") if not element.attributes
    )
    assert parsed.page.count("<!--") == 0


def test_the_file_can_be_written_and_has_no_odd_characters(page: str) -> None:
    page.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)


def test_ids_are_unique_and_labels_point_to_them(page: str) -> None:
    elements = Parsed(page).elements
    ids = [element.attributes["id"] for element in elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["aria-labelledby"] for e in elements if "aria-labelledby" in e.attributes} <= set(
        ids
    )


def test_tables_can_be_read_aloud(page: str) -> None:
    parsed = Parsed(page)
    assert len(parsed.find_all("caption")) == len(parsed.find_all("table"))
    assert {head.attributes.get("scope") for head in parsed.find_all("th")} == {"col", "row"}
    for region in parsed.elements:
        if region.attributes.get("role") == "region":
            assert region.attributes["aria-label"]
            assert region.attributes["tabindex"] == "0"
    assert all(e.attributes.keys() & {"aria-label", "aria-hidden"} for e in parsed.find_all("svg"))
    assert len(parsed.find_all("main")) == len(parsed.find_all("h1")) == len(parsed.find_all("header")) == 1


def test_the_islands_are_json(page: str) -> None:
    islands = [e for e in Parsed(page).find_all("script") if e.attributes.get("type") == "application/json"]
    index, entries = (json.loads(island.text) for island in islands)
    assert len(index["rows"]) == len(entries) == 7


def test_the_same_scorecards_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = (render_report([load_card(tmp_path)], SuiteInfo(), Profile.OFFICIAL) for _ in range(2))
    assert one == two


def read_figures(parsed: Parsed) -> list[str]:
    return [e.text for e in parsed.find_all("p") if e.attributes.get("class") == "figure"]


def test_the_share_that_passed_is_the_headline_and_both_profiles_stand_below(tmp_path: Path) -> None:
    records = [make_record(Failed("a", "b"), Passed()), make_record(number=1)]
    parsed = Parsed(render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL))
    assert read_figures(parsed) == ["50.00%"]
    assert parsed.read_texts("dt")[:2] == ["simple_python, official", "simple_python, corrected"]
    assert [text.split()[0] for text in parsed.read_texts("dd")[:2]] == ["50.00%", "100.00%"]


def test_checks_of_a_server_are_headed_by_what_is_broken(tmp_path: Path) -> None:
    records = [make_record(Failed("a", "b"), category="server_must"), make_record(category="server_info")]
    parsed = Parsed(render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL))
    assert read_figures(parsed) == ["1 broken"]
    assert not any("official" in text for text in parsed.read_texts("dt"))


@pytest.mark.parametrize("scored", [True, False])
def test_a_share_that_is_not_sure_says_why(tmp_path: Path, scored: bool) -> None:
    elsewhere = NotScored(OTHER_RULES, "the conversation went on after a wrong call")
    records = [make_path_record(elsewhere), *([make_path_record(number=1)] if scored else [])]
    text = render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL)
    assert ("so the rest is no fair sample" in text) is scored
    assert ("No entry has a verdict yet" in text) is not scored


def test_what_is_set_aside_need_not_be_bad_data(tmp_path: Path) -> None:
    """In completion mode it is what cannot be asked, in both profiles."""
    records = [make_record(NotScored(SET_ASIDE, "an example in the prompts")), make_record(number=1)]
    text = render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL)
    assert "bad data, which the official profile counts, or cannot be asked in this mode" in text


def test_checks_beside_answers_move_no_share(tmp_path: Path) -> None:
    records = [make_record(), make_record(Failed("a", "b"), category="server_must", suite="wire")]
    parsed = Parsed(render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL))
    assert read_figures(parsed) == ["100.00%"]


def test_failures_are_one_click_away(tmp_path: Path) -> None:
    records = [make_record(Failed("a", "b")), make_record(category="parallel")]
    parsed = Parsed(render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL))
    links = {e.attributes["href"]: e.text for e in parsed.find_all("a")}
    assert links["#verdict=failed"] == "1 failed"
    assert "#category=simple_python&verdict=failed" in links
    assert "#category=parallel&verdict=failed" not in links, "nothing failed there"


def test_a_change_is_told_with_its_entries(tmp_path: Path) -> None:
    before = load_card(tmp_path, "before", [make_record(number=n) for n in range(12)])
    after = load_card(tmp_path, "after", [make_record(Failed("a", "b"), number=n) for n in range(12)])
    text = render_report([after], SuiteInfo(), Profile.OFFICIAL, before)
    assert ">Yes: worse</p>" in text
    assert 'Of 12 entries scored in both runs, <a href="#verdict=worse">12 became worse</a>' in text
    assert "That is −100.0 points, with 95% confidence between " in text
    assert "#verdict=worse" not in render_report([after], SuiteInfo(), Profile.OFFICIAL)
    index = next(e for e in Parsed(text).find_all("script") if e.attributes.get("id") == "index-data")
    assert len(json.loads(index.text)["before"]) == 12


def test_several_runs_have_columns_with_changes_that_can_be_sorted(tmp_path: Path) -> None:
    first = load_card(tmp_path, "first", [make_record(number=n) for n in range(12)])
    second = load_card(tmp_path, "second", [make_record(Failed("a", "b"), number=n) for n in range(12)])
    parsed = Parsed(render_report([first, second], SuiteInfo(), Profile.OFFICIAL))
    (scores,) = [e for e in parsed.find_all("table") if "scores" in e.attributes.get("class", "")]
    assert scores.attributes["class"] == "scores sortable"
    changes = [e for e in parsed.find_all("td") if e.attributes.get("class") == "change worse"]
    assert {e.attributes["data-value"] for e in changes} >= {"-1.0"}
    assert [e.attributes["href"] for e in parsed.find_all("a") if "worse" in e.attributes["href"]] == [
        "#verdict=worse&model=1"
    ]


def test_a_run_of_complex_entries_is_headed_by_their_score(tmp_path: Path) -> None:
    records = [
        make_path_record(Failed("stop_early", "r") if name == "cross" else Passed(), category=name)
        for name in GROUPS["complex"].parts
    ]
    text = render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL)
    parsed = Parsed(text)
    assert parsed.read_texts("dt")[:2] == ["complex, official", "complex, corrected"]
    assert read_figures(parsed) == ["80.00%"]
    assert "80.0% of complex passed: 4 of 5 (95% " in text
    assert 'href="#complex"' in text
    part = Parsed(render_report([load_card(tmp_path, records=records[1:])], SuiteInfo(), Profile.OFFICIAL))
    assert part.read_texts("dt")[:2] == ["all, official", "all, corrected"]
    assert 'id="complex"' not in render_report(
        [load_card(tmp_path, records=[make_record()])], SuiteInfo(), Profile.OFFICIAL
    )


@pytest.mark.parametrize("section", ["trials", "gate"])
def test_sections_are_there_only_when_there_is_something_to_say(tmp_path: Path, section: str) -> None:
    plain = replace(load_card(tmp_path, records=[make_record()]), gate=())
    full = load_card(tmp_path, records=[make_record(trial=1), make_record(trial=2)])
    there = [
        f'id="{section}"' in render_report([run], SuiteInfo(), Profile.OFFICIAL) for run in (plain, full)
    ]
    assert there == [False, True]


def test_suites_of_a_team_are_groups_and_their_entries_count_alike(tmp_path: Path) -> None:
    own = [make_record(suite=suite, number=number) for number, suite in enumerate(("mine", "yours"))]
    text = render_report([load_card(tmp_path, records=own)], SuiteInfo(), Profile.OFFICIAL)
    assert "overall gives every entry the same weight" in text
    assert "official formula" not in text
    assert {"mine", "yours", "overall"} <= set(Parsed(text).read_texts("th"))
    assert "overall gives every entry the same weight" not in render_report(
        [load_card(tmp_path)], SuiteInfo(), Profile.OFFICIAL
    )


def test_a_run_in_which_nothing_was_scored_has_a_page(tmp_path: Path) -> None:
    text = render_report(
        [load_card(tmp_path, records=[make_record(NotScored("timeout", ""))])], SuiteInfo(), Profile.OFFICIAL
    )
    assert "Nothing failed." in text


def test_a_page_of_no_entries_at_all(tmp_path: Path) -> None:
    path = write_scorecard(tmp_path / "none.json", [])
    page = Parsed(render_report([scorecard_files.load_scorecard(path)], SuiteInfo(), Profile.OFFICIAL))
    assert page.read_texts("h2") == ["Overview", "Entries", "Scores", "Errors", "Cost and latency", "About"]
    assert read_figures(page) == ["–"]


WRONG = Failed("wrong_count", "2 calls came, 1 expected")
HELD = RuleOutcome("a>=0", "held", "yes")
BROKEN = RuleOutcome("b>=1", "broken", "no")
UNSURE = RuleOutcome("c>=1", "cannot tell", "perhaps")


def prepare_gated_run(folder: Path, *gate: RuleOutcome) -> tuple[ReportedModel, ...]:
    card = load_card(folder, records=[make_record()])
    return sections.prepare_models([replace(card, gate=gate)])


@each_case(
    ("gate", "verdict"),
    [
        ((), None),
        ((HELD,), ("gate held: 1 rule", "passed")),
        ((HELD, BROKEN), ("gate broken: 1 held, 1 broken", "failed")),
        ((HELD, UNSURE), ("gate cannot tell: 1 held, 1 cannot tell", "not_scored")),
        ((UNSURE, BROKEN), ("gate broken: 1 cannot tell, 1 broken", "failed")),
    ],
)
def test_the_verdict_is_that_of_the_gate(
    tmp_path: Path, gate: Sequence[RuleOutcome], verdict: tuple[str, str] | None
) -> None:
    (run,) = judge_runs(prepare_gated_run(tmp_path, *gate), Profile.OFFICIAL)
    assert run.verdict == verdict


def test_a_run_of_which_nothing_was_scored_says_so(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record(NotScored("timeout", ""))])
    (run,) = judge_runs(models, Profile.OFFICIAL)
    assert run.verdict == ("nothing was scored", "not_scored")
    assert (run.counts.passed, run.counts.failed, run.counts.not_scored) == (0, 0, 1)


def make_records(number: int, failed: int) -> list[Record]:
    return [make_record(*([WRONG] if n < failed else []), number=n) for n in range(number)]


def test_each_of_several_runs_is_compared_with_the_first(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, make_records(12, 0), make_records(12, 12), make_records(12, 0))
    first, worse, same = judge_runs(models, Profile.OFFICIAL)
    assert first.change is None
    assert worse.change is not None
    assert (worse.change.better, worse.change.worse, worse.change.shown) == (0, 12, -1)
    assert worse.change.by_metric["simple_python"].difference.change == -1
    assert same.change is not None
    assert (worse.change.verdict, same.change.verdict) == ("worse", "nothing changed")


def test_the_share_that_heads_the_page_decides_whether_it_is_worse(tmp_path: Path) -> None:
    # By the weights of the formula the one category that became worse is a small part.
    others = [make_record(category=name) for name in ("live_simple", "multi_turn_base", "memory_kv")]
    models = prepare_runs(tmp_path, [*make_records(40, 0), *others], [*make_records(40, 9), *others])
    _, run = judge_runs(models, Profile.OFFICIAL)
    assert run.change is not None
    assert run.change.share is not None
    assert (run.change.verdict, run.change.entries) == ("worse", 43)
    assert run.change.share.change == pytest.approx(-9 / 43)


def test_a_few_changes_that_chance_can_make_are_no_verdict(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, make_records(12, 0), make_records(12, 1), make_records(3, 1))
    told = [run.change for run in judge_runs(models, Profile.OFFICIAL) if run.change]
    assert [change.verdict for change in told] == ["no difference shown"] * 2
    assert told[0].sentence == "chance alone can do that"
    assert told[1].sentence.endswith("too few entries to show any difference")


def test_runs_of_different_sizes_say_on_how_many_entries_they_are_compared(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, make_records(12, 0), make_records(15, 12), make_records(9, 0))
    told = [run.change.sentence for run in judge_runs(models, Profile.OFFICIAL) if run.change]
    assert told == ["3 entries are only in test (card1.json)", "3 entries are only in test (card0.json)"]


def test_a_run_names_the_parts_of_overall_that_it_lacks(tmp_path: Path) -> None:
    shown = prepare_runs(tmp_path, [make_record(category="irrelevance")], [make_record(category="hotels")])
    part, other = (run.sentence for run in judge_runs(shown, Profile.OFFICIAL))
    assert part.endswith(
        "; no overall score without these parts: non_live, live, multi_turn, agentic, live_irrelevance"
    )
    assert "overall" not in other


def test_runs_without_a_common_entry_say_so(tmp_path: Path) -> None:
    models = prepare_runs(tmp_path, [make_record()], [make_record(number=1)])
    _, other = judge_runs(models, Profile.OFFICIAL)
    assert other.change is not None
    assert other.change.sentence == "no scored entry in common with test (card0.json)"
    assert (other.change.verdict, other.change.by_metric) == ("cannot be compared", {})


def read_answers(parsed: Parsed) -> dict[str, str]:
    """Return the answer below each question of the first screen."""
    questions = [text for text in parsed.read_texts("h3") if text.endswith("?")]
    figures = [
        e.text
        for e in parsed.find_all("p")
        if set(e.attributes.get("class", "").split()) & {"figure", "told"}
    ]
    return dict(zip(questions, figures, strict=True))


def test_the_first_screen_answers_four_questions(tmp_path: Path) -> None:
    card = load_card(
        tmp_path, records=[*make_records(30, 3), make_record(NotScored("timeout", ""), number=99)]
    )
    parsed = Parsed(render_report([card], SuiteInfo(), Profile.OFFICIAL))
    assert read_answers(parsed) == {
        "How good?": "90.00%",
        "How sure?": "Between 74.4% and 96.5%",
        "Worse than before?": "No earlier run",
        "What first?": "Too many calls came",
    }
    (command,) = [e.text for e in parsed.find_all("pre")]
    assert command == f"fcbench run show core:simple_python_0 --scorecard {card.path}"
    links = {e.attributes["href"]: e.text for e in parsed.find_all("a")}
    assert links["#verdict=not_scored"] == "1 without a verdict"
    assert links["#verdict=failed&code=too%20many%20calls%20came"] == "3 entries"


def test_the_most_frequent_cause_can_be_a_missing_verdict(tmp_path: Path) -> None:
    records = [make_record(NotScored("provider_error", ""), number=n) for n in range(4)]
    parsed = Parsed(render_report([load_card(tmp_path, records=records)], SuiteInfo(), Profile.OFFICIAL))
    answers = read_answers(parsed)
    assert (answers["How sure?"], answers["What first?"]) == ("Not at all", "Provider error")
    links = {e.attributes["href"]: e.text for e in parsed.find_all("a")}
    assert links["#verdict=not_scored&code=provider%20error"] == "4 entries"


def test_a_run_without_failures_has_nothing_to_do_first(tmp_path: Path) -> None:
    before, after = (load_card(tmp_path, name, make_records(5, 0)) for name in ("before", "after"))
    answers = read_answers(Parsed(render_report([after], SuiteInfo(), Profile.OFFICIAL, before)))
    assert answers["What first?"] == "Nothing: no entry failed"
    assert answers["Worse than another run?"] == "Nothing changed"


def test_categories_stand_in_their_groups(tmp_path: Path) -> None:
    live = replace(make_record(category="live_simple"), group="live")
    models = prepare_runs(tmp_path, [make_record(), make_record(WRONG, category="parallel"), live])
    found = list(group_categories(models, Profile.OFFICIAL))
    assert [(block.group.name, [row.name for row in block.categories]) for block in found] == [
        ("non_live", ["simple_python", "parallel"]),
        ("live", ["live_simple"]),
    ]
    assert [row.failed for row in found[0].categories] == [0, 1]


def test_own_suites_are_groups_and_a_run_without_a_category_has_no_mark(tmp_path: Path) -> None:
    mine, yours = make_record(suite="mine"), make_record(suite="yours", category="parallel")
    models = prepare_runs(tmp_path, [mine], [mine, yours])
    first, second = group_categories(models, Profile.OFFICIAL)
    assert (first.group.name, second.group.name) == ("mine", "yours")
    assert [mark.series for mark in first.categories[0].ranges] == [0, 1]
    assert [mark.series for mark in second.categories[0].ranges] == [1]

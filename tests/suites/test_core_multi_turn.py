"""The embedded multi-turn entries: the truth can be carried out and passes, and nothing short of it does."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed, Profile
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS, open_environments
from pytest_fcbench.kinds.kind import carry_out_calls, put_turns
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.parity.trajectories import is_error

_SUITE = open_suite("core", Path("no cache is needed"))
_KINDS = [name for name in CATEGORIES if name.startswith("multi_turn_")]
_BY_KIND = {kind: _SUITE.load(CATEGORIES[kind]) for kind in _KINDS}
_ENTRIES = [entry for entries in _BY_KIND.values() for entry in entries]

_EMPTY = {"multi_turn_miss_func": 1, "multi_turn_miss_param": 1, "multi_turn_composite": 2}
"""In how many turns nothing can be called; in none of the others' entries."""

_LOOKS = {
    "file_system": "pwd()",
    "math": "absolute_value(number=-1)",
    "messages": "list_users()",
    "posting": "posting_get_login_status()",
    "tickets": "ticket_get_login_status()",
    "trading": "get_current_time()",
    "travel": "list_all_airports()",
    "vehicle": "displayCarStatus(option='battery')",
}
"""A call for each domain that changes nothing."""

_NOT_TOLD_APART = {
    ("authenticate_travel", "client_id"),
    ("authenticate_travel", "client_secret"),
    ("authenticate_travel", "refresh_token"),
    ("contact_customer_support", "message"),
    ("estimate_drive_feasibility_by_mileage", "distance"),
    ("filter_stocks_by_price", "max_price"),
    ("filter_stocks_by_price", "min_price"),
    ("purchase_insurance", "insurance_type"),
    ("ticket_login", "password"),
    ("trading_login", "password"),
    ("trading_login", "username"),
    ("verify_traveler_information", "date_of_birth"),
    ("verify_traveler_information", "passport_number"),
}
"""Arguments of which a slightly different value changes neither a state nor a result."""

each_entry = pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry.id)
each_kind = each_case("kind", _KINDS)

Turns = Sequence[Sequence[str]]


def _read_truth(entry: Entry) -> Turns:
    assert isinstance(entry.expectation, Trajectory)
    return entry.expectation.turns


def _match_calls(entry: Entry, made: Turns, profile: Profile = Profile.CORRECTED) -> Passed | Failed:
    """Judge these calls, those of a turn made in one step."""
    steps = [[calls] if calls else [] for calls in made]
    return state.match_calls(entry, steps, partial(open_environments, entry, _SUITE.world), profile)


def _hold_conversation(entry: Entry, mode: Mode) -> tuple[Transcript, list[AskModel]]:
    """Hold the oracle's conversation and return it with the requests."""
    model = OracleModel(Prompting.make_default(mode, Names.UNDERSCORED))
    manner = ModelPresentation("oracle", Prompting.make_default(mode, Names.UNDERSCORED))
    asking = carry_out_calls(
        put_turns(entry, manner, _SUITE.wording), open_environments(entry, _SUITE.world).perform_calls
    )
    requests = [next(asking)]
    try:
        while True:
            requests.append(asking.send(run_through(model.complete(entry, requests[-1]))))
    except StopIteration as ended:
        return ended.value, requests


@each_kind
def test_there_are_enough_entries_under_running_ids(kind: str) -> None:
    ids = [entry.id for entry in _BY_KIND[kind]]
    assert len(ids) >= 16
    assert ids == [f"{kind}_{number}" for number in range(len(ids))]


@each_kind
def test_every_domain_occurs_in_at_least_two_entries(kind: str) -> None:
    counts = Counter(domain for entry in _BY_KIND[kind] if entry.scene for domain in entry.scene.domains)
    assert counts.keys() == DOMAINS.keys() - {*SELECTIONS["memory"], "web_search"}
    assert min(counts.values()) >= 2


@pytest.mark.few(12)
@each_entry
def test_nothing_can_be_called_in_as_many_turns_as_the_kind_says(entry: Entry) -> None:
    empty = [not calls for calls in _read_truth(entry)]
    assert sum(empty) == _EMPTY.get(entry.category.name, 0)
    assert not empty[-1]
    assert 2 <= len(empty) - empty.count(True) <= 5


@pytest.mark.few(12)
@each_entry
def test_every_call_of_the_truth_succeeds(entry: Entry) -> None:
    environments = open_environments(entry, _SUITE.world)
    results = [
        (call, environments.perform_calls([call])[0]) for calls in _read_truth(entry) for call in calls
    ]
    assert not [(call, text) for call, text in results if is_error(text) or "false" in text]


@pytest.mark.few(16)
@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
@each_entry
def test_the_oracle_passes(entry: Entry, mode: Mode) -> None:
    transcript, _ = _hold_conversation(entry, mode)
    verdicts = state.judge(entry, transcript, lambda entry: open_environments(entry, _SUITE.world))
    assert verdicts == Judgement(Passed(), Passed())


@pytest.mark.few(12)
@pytest.mark.parametrize("profile", Profile)
@each_entry
def test_every_call_counts(entry: Entry, profile: Profile) -> None:
    unneeded = []
    for turn, calls in enumerate(_read_truth(entry)):
        for index, call in enumerate(calls):
            made = _replace_turn(entry, turn, [*calls[:index], *calls[index + 1 :]])
            if _match_calls(entry, made, profile).passed:
                unneeded.append(call)
    assert not unneeded


@pytest.mark.few(12)
@pytest.mark.parametrize("profile", Profile)
@each_entry
def test_every_argument_counts(entry: Entry, profile: Profile) -> None:
    passed = [
        (name, changed)
        for turn, calls in enumerate(_read_truth(entry))
        for index, call in enumerate(calls)
        for name, argument, changed in _change_arguments(call)
        if (name, argument) not in _NOT_TOLD_APART
        and _match_calls(
            entry, _replace_turn(entry, turn, [*calls[:index], changed, *calls[index + 1 :]]), profile
        ).passed
    ]
    assert not passed


@pytest.mark.few(12)
@pytest.mark.parametrize("place", [0, None], ids=["before", "after"])
@each_entry
def test_looking_around_changes_no_verdict(entry: Entry, place: int | None) -> None:
    assert entry.scene is not None
    looks = [_LOOKS[domain] for domain in entry.scene.domains]
    made = [
        ([*looks, *calls] if place == 0 else [*calls, *looks]) if calls else []
        for calls in _read_truth(entry)
    ]
    assert _match_calls(entry, made, Profile.OFFICIAL).passed
    assert _match_calls(entry, made, Profile.CORRECTED).passed


each_with_an_empty_turn = pytest.mark.parametrize(
    "entry", [e for e in _ENTRIES if e.category.name in _EMPTY], ids=lambda entry: entry.id
)


@pytest.mark.few(12)
@each_with_an_empty_turn
def test_looking_around_where_nothing_can_be_done_is_no_mistake(entry: Entry) -> None:
    assert entry.scene is not None
    look = _LOOKS[entry.scene.domains[0]]
    for turn, calls in enumerate(_read_truth(entry)):
        if not calls:
            made = _replace_turn(entry, turn, [look])
            assert _match_calls(entry, made, Profile.OFFICIAL).passed
            assert _match_calls(entry, made, Profile.CORRECTED).passed


@pytest.mark.few(12)
@each_with_an_empty_turn
def test_the_task_where_nothing_can_be_done_fails_in_the_corrected_profile(entry: Entry) -> None:
    truth = _read_truth(entry)
    for turn, calls in enumerate(truth):
        if not calls:
            verdict = _match_calls(entry, _replace_turn(entry, turn, truth[turn + 1]))
            assert isinstance(verdict, Failed)
            assert verdict.code == "multi_turn:irrelevance_error:decoder_success"
            assert verdict.details["turn"] == turn + 1


@each_case(
    "entry",
    [*_BY_KIND["multi_turn_miss_func"], *_BY_KIND["multi_turn_composite"]],
    ids=lambda entry: entry.id,
)
def test_withheld_functions_are_offered_only_after_they_were_missed(entry: Entry) -> None:
    assert entry.scene is not None
    ((turn, late),) = entry.scene.withheld.items()
    _, requests = _hold_conversation(entry, Mode.FC)
    names = {doc.name for doc in late}
    for request in requests:
        offered = {tool["function"]["name"] for tool in request.tools}  # type: ignore[index]
        assert names & offered == (names if request.turn >= turn else set())
    assert not _read_truth(entry)[turn - 1]
    assert names & {_read_name(call) for call in _read_truth(entry)[turn]}


@each_case("entry", _BY_KIND["multi_turn_miss_func"], ids=lambda entry: entry.id)
def test_the_truth_fails_where_functions_are_withheld(entry: Entry) -> None:
    """The plain entry's calls, made before the functions are there, come a turn too early."""
    assert entry.scene is not None
    ((turn, _),) = entry.scene.withheld.items()
    early = list(_read_truth(entry))
    early[turn - 1], early[turn] = early[turn], []
    assert not _match_calls(entry, early, Profile.CORRECTED).passed
    assert not _match_calls(entry, early, Profile.OFFICIAL).passed


_SHORT_AND_LONG = [
    pair
    for short, long in (
        ("multi_turn_base", "multi_turn_long_context"),
        ("multi_turn_miss_param", "multi_turn_composite"),
    )
    for pair in zip(_BY_KIND[short], _BY_KIND[long], strict=True)
]


@each_case(("short", "long"), _SHORT_AND_LONG, ids=[long.id for _, long in _SHORT_AND_LONG])
def test_the_results_of_a_long_context_are_longer_in_every_entry(short: Entry, long: Entry) -> None:
    sizes = [
        sum(
            map(
                len,
                open_environments(entry, _SUITE.world).perform_calls(
                    [call for calls in _read_truth(entry) for call in calls]
                ),
            )
        )
        for entry in (short, long)
    ]
    assert sizes[1] > sizes[0] + 1000


@each_case("domain", DOMAINS)
def test_function_docs_of_a_domain_can_be_derived(domain: str) -> None:
    docs = document_domain(DOMAINS[domain])
    assert docs
    assert all(doc.description and doc.parameters for doc in docs)


def _replace_turn(entry: Entry, turn: int, calls: Sequence[str]) -> Turns:
    """Return the truth with other calls in one turn."""
    return [calls if number == turn else truth for number, truth in enumerate(_read_truth(entry))]


def _read_name(call: str) -> str:
    return call.partition("(")[0]


def _change_arguments(call: str) -> Iterator[tuple[str, str, str]]:
    """Yield function, argument and call for each argument, with another value of its type."""
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    for keyword in tree.keywords:
        right = keyword.value
        keyword.value = ast.parse(repr(_change_value(ast.literal_eval(right))), mode="eval").body
        yield _read_name(call), str(keyword.arg), ast.unparse(tree)
        keyword.value = right


def _change_value(value: object) -> object:
    match value:
        case bool():
            return not value
        case int() | float():
            return value / 2 if 0 < value <= 1 else value - 1
        case list():
            return value[1:] or ["other"]
        case dict():
            return {name: _change_value(member) for name, member in value.items()}
        case "celsius":
            return "fahrenheit"
        case str() if value[-1:].isdigit():
            return f"{value[:-1]}{(int(value[-1]) + 1) % 10}"
        case _:
            return f"{value}x"

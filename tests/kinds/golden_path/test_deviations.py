"""What a model gets and how it ends when it leaves a golden path, by the rules of each profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Completion, Fault, RecordedCall
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.kinds.golden_path import corrected, official
from pytest_fcbench.kinds.golden_path.kind import judge
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from tests.cases import each_case
from tests.kinds.golden_path.cases import Answer, make_path_entry
from tests.kinds.golden_path.talking import (
    CORRECTED,
    OFFICIAL,
    classify_replies,
    hold_conversation,
    write_call,
)


@dataclass(frozen=True, slots=True)
class End:
    """How a conversation ends: code, right calls, answers with calls, and what these got (see ``kinds``)."""

    code: str
    right: int | None
    taken: int = 0
    replies: str = ""


def _make_path(*steps: Sequence[tuple[str, Mapping[str, object]]]) -> Entry:
    return make_path_entry(
        [
            [
                RecordedCall.with_reply(name, arguments, {"data": f"{name} {i}"})
                for i, (name, arguments) in enumerate(step)
            ]
            for step in steps
        ]
    )


def _change_path(entry: Entry, **members: object) -> Entry:
    assert isinstance(entry.expectation, GoldenPath)
    return replace(entry, expectation=replace(entry.expectation, **members))  # type: ignore[arg-type]


_REVIEWS = "Get_Hotel_Reviews(Tips)"
PLACE, PLACE_CALL = (
    ("Search_Hotel_Destination", {"query": "Bergen"}),
    write_call("Search_Hotel_Destination", query="Bergen"),
)
BERGEN_CALL = write_call("Search_Hotel_Destination", query="BERGEN")
_STAY: dict[str, object] = {"search_type": "city", "dest_id": "11", "arrival_date": "2030-05-01", "adults": 2}
STAYS, STAYS_CALL = ("Search_Hotels", _STAY), write_call("Search_Hotels", **_STAY)
_DAY: dict[str, object] = {"hotel_id": "101", "arrival_date": "2030-05-01"}
DETAILS, DETAILS_CALL = ("Get_Hotel_Details", _DAY), write_call("Get_Hotel_Details", **_DAY)
REVIEWS, REVIEWS_CALL = (_REVIEWS, {"hotel_id": "101"}), write_call("Get_Hotel_Reviews-Tips-", hotel_id="101")
_OSLO: dict[str, object] = {"query": "Oslo"}
FLIGHT_PLACE, FLIGHT_PLACE_CALL = (
    ("Search_Flight_Location", _OSLO),
    write_call("Search_Flight_Location", **_OSLO),
)
COORDINATES, COORDINATES_CALL = ("Location_to_Lat_Long", _OSLO), write_call("Location_to_Lat_Long", **_OSLO)
_FLIGHT: dict[str, object] = {"fromId": "OSL", "toId": "BGO", "departDate": "2030-05-01"}
FLIGHTS, FLIGHTS_CALL = ("Search_Flights", _FLIGHT), write_call("Search_Flights", **_FLIGHT)

TRIP = _make_path([PLACE], [STAYS], [DETAILS, REVIEWS])
"""A lookup, a search, two calls at once."""
GOLDEN: list[Answer] = [[PLACE_CALL], [STAYS_CALL], [DETAILS_CALL, REVIEWS_CALL]]
LAST = _make_path([DETAILS, REVIEWS])


def _search_stays(**changed: object) -> tuple[str, str]:
    return write_call("Search_Hotels", **{**_STAY, **changed})


@dataclass(frozen=True, slots=True)
class Deviation:
    """Answers to an entry, and the end by the rules of each profile; None where it is the same."""

    name: str
    answers: Sequence[Answer | Completion]
    official: End
    corrected: End | None = None
    entry: Entry = TRIP


DEVIATIONS = [
    # Section 2: the loop
    Deviation("golden path", GOLDEN, End("passed", 4, 3, "r|r|rr")),
    Deviation(
        "one call after the other",
        [[PLACE_CALL], [STAYS_CALL], [DETAILS_CALL], [REVIEWS_CALL]],
        End("passed", 4, 4, "r|r|r|r"),
    ),
    Deviation(
        "calls of a step in another order",
        [[PLACE_CALL], [STAYS_CALL], [REVIEWS_CALL, DETAILS_CALL]],
        End("passed", 4, 3, "r|r|rr"),
    ),
    Deviation(
        "an equal value in another form of Unicode",
        [[write_call("Search_Flights", **{**_FLIGHT, "toId": "Ko\u0308ln"})]],
        End("value_error", 0, 1),
        End("passed", 1, 1, "r"),
        entry=_make_path([("Search_Flights", {**_FLIGHT, "toId": "Köln"})]),
    ),
    Deviation("a lookup is left out", GOLDEN[1:], End("passed", 3, 2, "r|rr")),
    Deviation("no call at all", [], End("stop_early", 0)),
    Deviation("it stops after two steps", GOLDEN[:2], End("stop_early", 2, 2, "r|r")),
    Deviation(
        "no answer",
        [*GOLDEN[:1], None],
        End("unknown_error", None),
        End("stop_early", 1, 1, "r"),
    ),
    Deviation(
        "the context is full",
        [*GOLDEN[:2], Completion(text="too long", fault=Fault.OVERFLOW)],
        End("unknown_error", None),
        End("context_overflow", 2, 2, "r|r"),
    ),
    Deviation(
        "an error where an answer belongs",
        [*GOLDEN[:1], Completion(text="boom", fault=Fault.INFERENCE_ERROR)],
        End("unknown_error", None),
        End("inference_error", None),
    ),
    Deviation(
        "a call after everything was done",
        [*GOLDEN, [_search_stays(dest_id="22")]],
        End("func_hallucination", 4, 3, "r|r|rr"),
        End("func_hallucination", 4, 4, "r|r|rr"),
    ),
    Deviation(
        "everything was done, and a call is made again",
        [*GOLDEN, [REVIEWS_CALL]],
        End("func_hallucination", 4, 3, "r|r|rr"),
        End("passed", 4, 4, "r|r|rr|r"),
    ),
    Deviation(
        "a function that is not there",
        [[write_call("Search_Inns", query="Bergen")], *GOLDEN],
        End("decode_error", 0, 0),
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    Deviation(
        "arguments that are not JSON",
        [[("Search_Hotel_Destination", '{"query": ')], *GOLDEN],
        End("decode_error", 0, 0),
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    Deviation(
        "arguments that are a list",
        [[("Search_Hotel_Destination", "[1, 2]")], *GOLDEN],
        End("crash", None),
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    *(
        Deviation(
            f"{arguments} for arguments",
            [[("Search_Hotel_Destination", arguments)], *GOLDEN],
            End("passed", 4, 4, "f|r|r|rr"),
        )
        for arguments in ("[]", '""', "{}")
    ),
    Deviation(
        "arguments that are null",
        [[("Search_Hotel_Destination", "null")], *GOLDEN],
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    Deviation(
        "a call without arguments that are null",
        [[("Get_Currency", "null")]],
        End("passed", 1, 1, "r"),
        entry=_make_path([("Get_Currency", {})]),
    ),
    Deviation(
        "a call without arguments that are blank",
        [[("Get_Currency", " ")]],
        End("decode_error", 0, 0),
        End("passed", 1, 1, "r"),
        entry=_make_path([("Get_Currency", {})]),
    ),
    Deviation(
        "a wrong call is made good",
        [*GOLDEN[:1], [_search_stays(dest_id="22")], *GOLDEN[1:]],
        End("value_error", 1, 2, "r"),
        End("passed", 4, 4, "r|g|r|rr"),
    ),
    Deviation(
        "a wrong call is not made good",
        [*GOLDEN[:1], [_search_stays(dest_id="22")]],
        End("value_error", 1, 2, "r"),
        End("value_error", 1, 2, "r|g"),
    ),
    Deviation(
        "a wrong call beside a right one",
        [*GOLDEN[:2], [DETAILS_CALL, write_call("Get_Hotel_Reviews-Tips-", hotel_id="102")], [REVIEWS_CALL]],
        End("passed", 4, 4, "r|r|rg|r"),
    ),
    Deviation(
        "a call that nothing is left for",
        [[PLACE_CALL], [STAYS_CALL, _search_stays(adults=3)], *GOLDEN[2:]],
        End("passed", 4, 3, "r|rg|rr"),
    ),
    Deviation(
        "a mistake in the last answer, everything else is there",
        [[DETAILS_CALL, REVIEWS_CALL, write_call("Search_Flight_Location", query="Rome")]],
        End("value_error", 2, 1, "rrg"),
        End("passed", 2, 1, "rrg"),
        _make_path([DETAILS, REVIEWS, FLIGHT_PLACE]),
    ),
    Deviation(
        "two steps at once",
        [[STAYS_CALL, DETAILS_CALL, REVIEWS_CALL], *GOLDEN[2:]],
        End("passed", 3, 2, "rgg|rr"),
        End("passed", 3, 2, "rrr|rr"),
        _make_path([STAYS], [DETAILS, REVIEWS]),
    ),
    Deviation(
        "two right calls open one step",
        [[DETAILS_CALL, REVIEWS_CALL], [FLIGHTS_CALL], [STAYS_CALL], [FLIGHTS_CALL]],
        End("func_error", 2, 2, "rr"),
        End("passed", 4, 4, "rr|g|r|r"),
        _make_path([DETAILS, REVIEWS], [STAYS], [FLIGHTS]),
    ),
    Deviation(
        "a step is opened before the last one is finished",
        [[DETAILS_CALL], [STAYS_CALL], [REVIEWS_CALL]],
        End("passed", 3, 3, "r|r|r"),
        entry=_make_path([DETAILS, REVIEWS], [STAYS]),
    ),
    Deviation(
        "a call too many beside the last that are right",
        [*GOLDEN[:2], [DETAILS_CALL, REVIEWS_CALL, _search_stays(dest_id="22")]],
        End("passed", 4, 3, "r|r|rrg"),
    ),
    Deviation(
        "a step that is not opened yet",
        [[REVIEWS_CALL], *GOLDEN],
        End("func_error", 0, 1, ""),
        End("passed", 4, 4, "g|r|r|rr"),
    ),
    # Lookups
    Deviation(
        "a lookup ahead of its step",
        [[FLIGHT_PLACE_CALL], [STAYS_CALL], [REVIEWS_CALL]],
        End("passed", 3, 3, "r|r|r"),
        entry=_make_path([STAYS], [FLIGHT_PLACE, REVIEWS]),
    ),
    Deviation(
        "two lookups ahead of a step that opens with one of lookups",
        [[FLIGHT_PLACE_CALL, COORDINATES_CALL, STAYS_CALL], [REVIEWS_CALL]],
        End("passed", 4, 2, "rrr|r"),
        entry=_make_path([STAYS], [PLACE], [FLIGHT_PLACE, COORDINATES, REVIEWS]),
    ),
    Deviation(
        "a lookup ahead of its step, behind the last call that is expected",
        [[DETAILS_CALL, FLIGHT_PLACE_CALL], [FLIGHT_PLACE_CALL, REVIEWS_CALL]],
        End("passed", 3, 2, "rg|rr"),
        End("passed", 3, 2, "rr|rr"),
        _make_path([DETAILS], [FLIGHT_PLACE, REVIEWS]),
    ),
    Deviation(
        "a lookup made three times",
        [[PLACE_CALL], [PLACE_CALL], [PLACE_CALL], *GOLDEN[1:]],
        End("passed", 6, 5, "r|r|r|r|rr"),
        End("passed", 4, 5, "r|r|r|r|rr"),
    ),
    Deviation(
        "an early lookup whose arguments stand in another order in the record",
        [
            [write_call("Taxi_Search_Location", query="Bergen", languagecode="no")],
            [STAYS_CALL],
            [REVIEWS_CALL],
        ],
        End("func_error", 0, 1),
        End("passed", 3, 3, "r|r|r"),
        _make_path([STAYS], [("Taxi_Search_Location", {"query": "Bergen", "languagecode": "no"}), REVIEWS]),
    ),
    Deviation(
        "two lookups beside each other are left out",
        [[DETAILS_CALL]],
        End("stop_early", 1, 1, "r"),
        End("passed", 1, 1, "r"),
        _make_path([DETAILS, PLACE, FLIGHT_PLACE]),
    ),
    Deviation(
        "the lookup that is not forgiven is left out",
        [[DETAILS_CALL]],
        End("stop_early", 1, 1, "r"),
        End("passed", 1, 1, "r"),
        _make_path([DETAILS, COORDINATES]),
    ),
    Deviation(
        "a step in which one call of two is a special lookup",
        [[REVIEWS_CALL], [DETAILS_CALL, _search_stays(search_type="hotel")]],
        End("passed", 3, 2, "r|rr"),
        End("stop_early", 2, 2, "g|rr"),
        _make_path([("Search_Hotels", {**_STAY, "search_type": "hotel"}), DETAILS], [REVIEWS]),
    ),
    Deviation(
        "two steps of lookups are left out",
        [[REVIEWS_CALL], [PLACE_CALL], [REVIEWS_CALL]],
        End("func_error", 0, 1),
        End("passed", 2, 3, "r|r|r"),
        _make_path([PLACE], [FLIGHT_PLACE], [REVIEWS]),
    ),
    Deviation(
        "nothing but lookups, and none is made",
        [],
        End("passed", 0),
        End("stop_early", 0),
        _make_path([PLACE]),
    ),
    Deviation(
        "nothing but lookups, and one is made",
        [[PLACE_CALL]],
        End("passed", 1, 1, "r"),
        End("stop_early", 1, 1, "r"),
        _make_path([PLACE], [FLIGHT_PLACE]),
    ),
    # Section 3: the form
    Deviation(
        "a required argument is missing",
        [[write_call("Search_Hotel_Destination")], *GOLDEN],
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    Deviation(
        "an argument that the function does not have",
        [[write_call("Search_Hotel_Destination", query="Bergen", town="Bergen")], *GOLDEN],
        End("passed", 4, 4, "f|r|r|rr"),
    ),
    Deviation(
        "an argument of another type",
        [[PLACE_CALL], [_search_stays(dest_id=11)], *GOLDEN[1:]],
        End("passed", 4, 4, "r|f|r|rr"),
    ),
    Deviation(
        "null for a number",
        [[PLACE_CALL], [_search_stays(adults=None)], *GOLDEN[1:]],
        End("passed", 4, 4, "r|f|r|rr"),
    ),
    Deviation(
        "true for a number",
        [[PLACE_CALL], [_search_stays(adults=True)], *GOLDEN[1:]],
        End("value_error", 1, 2, "r"),
        End("passed", 4, 4, "r|f|r|rr"),
    ),
    Deviation(
        "a malformed call takes a right one's place",
        [[write_call("Search_Hotels", **{**_STAY, "adults": "2"}), _search_stays(adults=2.0, dest_id="11 ")]],
        End("stop_early", 0, 1, "fg"),
        End("value_error", 0, 1, "fg"),
        _make_path([STAYS]),
    ),
    # Section 3: stages
    Deviation(
        "another function",
        [[write_call("Search_Flight_Location", query="Oslo")]],
        End("func_error", 0, 1),
        End("func_error", 0, 1, "g"),
        LAST,
    ),
    Deviation(
        "a value that must be equal is missing",
        [[write_call("Get_Hotel_Reviews-Tips-", hotel_id="101")]],
        End("param_missing", 0, 1),
        End("param_missing", 0, 1, "g"),
        _make_path([(_REVIEWS, {"hotel_id": "101", "sort_option_id": "NEW"})]),
    ),
    Deviation(
        "an argument that nobody asked for",
        [[write_call("Get_Hotel_Reviews-Tips-", hotel_id="101", sort_option_id="NEW")]],
        End("param_hallucination", 0, 1),
        End("param_hallucination", 0, 1, "g"),
        _make_path([REVIEWS]),
    ),
    Deviation(
        "a judged value in another form",
        [[BERGEN_CALL], *GOLDEN[1:]],
        End("passed", 4, 3, "r|r|rr"),
    ),
    Deviation(
        "a call with a judged value in another form is made again",
        [[BERGEN_CALL, BERGEN_CALL], [BERGEN_CALL], *GOLDEN[1:], [BERGEN_CALL]],
        End("func_error", 1, 2, "rg"),
        End("passed", 4, 5, "rr|r|r|rr|r"),
    ),
    Deviation(
        "a judged value that is another",
        [*GOLDEN[:1], [_search_stays(adults=5)]],
        End("value_error", 1, 2, "r"),
        End("value_error", 1, 2, "r|g"),
    ),
    Deviation(
        "codes in another order",
        [[_search_stays(categories_filter="b::2, a::1")]],
        End("passed", 1, 1, "r"),
        entry=_make_path([("Search_Hotels", {**_STAY, "categories_filter": "a::1,b::2"})]),
    ),
    Deviation(
        "a value that the official code overlooks",
        [[_search_stays(arrival_date="2030-05-09")]],
        End("value_error", 0, 1),
        entry=_make_path([STAYS]),
        corrected=End("value_error", 0, 1, "g"),
    ),
    Deviation(
        "a call with the same recorded reply",
        [[write_call("Search_Hotel_Destination", query="The town of seven mountains")]],
        End("passed", 1, 1, "r"),
        entry=_change_path(
            _make_path([PLACE]),
            recorded=(
                RecordedCall.with_reply(
                    PLACE[0], {"query": "The town of seven mountains"}, {"data": f"{PLACE[0]} 0"}
                ),
            ),
        ),
    ),
    Deviation(
        "both replies are the same error",
        [[write_call("Search_Hotels", **{**_STAY, "adults": 9})]],
        End("passed", 1, 1, "r"),
        End("value_error", 0, 1, "g"),
        _change_path(
            make_path_entry([[RecordedCall.with_reply("Search_Hotels", _STAY, {"status": False})]]),
            recorded=(RecordedCall.with_reply("Search_Hotels", {**_STAY, "adults": 9}, {"status": False}),),
        ),
    ),
    # No end
    Deviation(
        "the same lookup for ever",
        [[PLACE_CALL]] * 200,
        End(
            "step_limit", official.MOST_STEPS, official.MOST_STEPS, "|".join("r" * (official.MOST_STEPS - 1))
        ),
        End("step_limit", 1, corrected.MOST_STEPS, "|".join("r" * (corrected.MOST_STEPS - 1))),
    ),
]


def test_more_than_forty_deviations_have_names_of_their_own() -> None:
    assert len({deviation.name for deviation in DEVIATIONS}) == len(DEVIATIONS) > 40


@each_case("deviation", DEVIATIONS, ids=lambda deviation: deviation.name)
@each_case("driven", [OFFICIAL, CORRECTED], ids=lambda driven: driven.profile)
def test_it_ends_as_the_rules_say(deviation: Deviation, driven: object) -> None:
    profile = Profile.OFFICIAL if driven is OFFICIAL else Profile.CORRECTED
    expected = (
        deviation.official if profile is Profile.OFFICIAL else deviation.corrected or deviation.official
    )
    transcript = hold_conversation(
        deviation.entry, deviation.answers, OFFICIAL if driven is OFFICIAL else CORRECTED
    )
    judgement = judge(deviation.entry, transcript)
    verdict, score = judgement.select_profile(profile), judgement.select_path_score(profile)
    assert _name_verdict(verdict) == expected.code, verdict
    if expected.right is None:
        assert score is None
        return
    assert score is not None
    assert (score.right, score.taken, classify_replies(transcript)) == (
        expected.right,
        expected.taken,
        expected.replies,
    )


@each_case("deviation", DEVIATIONS, ids=lambda deviation: deviation.name)
def test_the_other_profile_judges_what_it_would_have_shown(deviation: Deviation) -> None:
    """Where its verdict can be known it is the one that it gives when it drives."""
    for driven, other, held_by_other in (
        (OFFICIAL, Profile.CORRECTED, CORRECTED),
        (CORRECTED, Profile.OFFICIAL, OFFICIAL),
    ):
        there = judge(
            deviation.entry, hold_conversation(deviation.entry, deviation.answers, driven)
        ).select_profile(other)
        at_home = judge(
            deviation.entry, hold_conversation(deviation.entry, deviation.answers, held_by_other)
        ).select_profile(other)
        assert there == at_home or (isinstance(there, NotScored) and there.cause == OTHER_RULES)


def test_it_says_nothing_of_what_was_answered_to_something_else() -> None:
    """Also where that would be the same verdict."""
    (ahead,) = (deviation for deviation in DEVIATIONS if deviation.name == "two steps at once")
    for driven, other in ((OFFICIAL, Profile.CORRECTED), (CORRECTED, Profile.OFFICIAL)):
        verdict = judge(ahead.entry, hold_conversation(ahead.entry, ahead.answers, driven)).select_profile(
            other
        )
        assert isinstance(verdict, NotScored)
        assert verdict.cause == OTHER_RULES
        assert "after answer 1" in verdict.reason


def _name_verdict(verdict: Verdict) -> str:
    match verdict:
        case Passed():
            return "passed"
        case Failed(code=code):
            return str(code)
        case NotScored(cause=cause):
            return str(cause)

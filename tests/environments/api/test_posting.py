"""The network of short messages: who may do what, and what is kept of it."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.posting import Posting
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import World
from tests.cases import each_case

WORLD = World(
    defaults={
        "posting": {
            "username": "ada",
            "password": "analytical",
            "authenticated": False,
            "tweets": {},
            "comments": {},
            "retweets": {},
            "following_list": ["charles"],
            "tweet_counter": 0,
        }
    }
)
ENGINE: dict[str, Any] = {
    "id": 4,
    "username": "charles",
    "content": "The Engine turns",
    "tags": ["#Brass"],
    "mentions": [],
}
CONFIG: dict[str, Any] = {"authenticated": True, "tweets": {"4": ENGINE}, "tweet_counter": 5}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
CALLS = st.lists(st.tuples(st.sampled_from(list_functions(Posting)), st.lists(JSON, max_size=3)), max_size=12)


def make_network(**config: object) -> Posting:
    return Posting(CONFIG | config, WORLD)


def test_the_state_is_the_default_state_with_the_configuration_over_it() -> None:
    assert make_network().state() == {
        "username": "ada",
        "password": "analytical",
        "authenticated": True,
        "tweets": {4: ENGINE},
        "comments": {},
        "retweets": {},
        "following_list": ["charles"],
        "tweet_counter": 5,
    }
    assert make_network(nonsense=1, username="grace").username == "grace"


@pytest.mark.parametrize(
    ("username", "password", "right"),
    [("ada", "analytical", True), ("ada", "wrong", False), ("eve", "analytical", False)],
)
def test_logging_in_takes_name_and_password(username: str, password: str, right: bool) -> None:
    posting = make_network(authenticated=False)
    assert posting.authenticate_twitter(username, password) == {"authentication_status": right}
    assert posting.posting_get_login_status() == {"login_status": right}


def test_a_wrong_attempt_does_not_log_out() -> None:
    posting = make_network()
    posting.authenticate_twitter("eve", "")
    assert posting.posting_get_login_status() == {"login_status": True}


@each_case(
    ("function", "arguments"),
    [
        ("post_tweet", ["hello"]),
        ("retweet", [4]),
        ("comment", [4, "indeed"]),
        ("follow_user", ["grace"]),
        ("unfollow_user", ["charles"]),
        ("list_all_following", []),
    ],
)
def test_what_needs_a_login_changes_nothing_without_one(function: str, arguments: list[object]) -> None:
    posting = make_network(authenticated=False)
    before = deepcopy(posting.state())
    assert "Log in" in getattr(posting, function)(*arguments)["error"]
    assert posting.state() == before


@each_case(
    ("function", "arguments"),
    [
        ("retweet", [9]),
        ("comment", [9, "indeed"]),
        ("mention", [9, ["grace"]]),
        ("get_tweet", [9]),
        ("get_tweet_comments", ["4"]),
    ],
)
def test_a_tweet_that_is_not_there_is_named(function: str, arguments: list[object]) -> None:
    assert getattr(make_network(), function)(*arguments) == {"error": f"There is no tweet {arguments[0]}."}


Failing = tuple[str, list[object], bool]
ALIKE: list[list[Failing]] = [
    [("post_tweet", ["a"], False), ("post_tweet", ["b", ["#c"]], False)],
    [("retweet", [4], False), ("retweet", [9], False)],
    [("comment", [4, "a"], False), ("comment", [9, "b"], False)],
    [("follow_user", ["grace"], False), ("follow_user", ["charles"], False)],
    [("unfollow_user", ["grace"], False), ("unfollow_user", ["charles"], False)],
    [("list_all_following", [], False)],
    [
        ("retweet", [9], True),
        ("comment", ["9", "a"], True),  # as a text it is the same
        ("mention", [9, ["grace"]], False),
        ("get_tweet", [9], False),
        ("get_tweet_comments", ["9"], False),
    ],
    [("get_tweet", [8], True)],
    [("get_tweet", [9.0], True)],
]
"""Functions, their arguments and whether the user is logged in: one list for each text."""


def error_of(function: str, arguments: list[object], authenticated: bool) -> str:
    return str(getattr(make_network(authenticated=authenticated), function)(*arguments)["error"])


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


def test_a_posted_tweet_gets_the_next_number() -> None:
    posting = make_network()
    tweet = posting.post_tweet("Note G", tags=["#first"], mentions=["@charles"])
    assert tweet == {
        "id": 5,
        "username": "ada",
        "content": "Note G",
        "tags": ["#first"],
        "mentions": ["@charles"],
    }
    assert posting.get_tweet(5) == tweet
    assert posting.tweet_counter == 6


def test_tweets_without_mentions_do_not_share_a_list() -> None:
    """In the official class the second tweet would mention grace too."""
    posting, other = make_network(), make_network()
    posting.post_tweet("one")
    posting.mention(5, ["grace"])
    assert posting.post_tweet("two")["mentions"] == []
    assert other.post_tweet("three")["mentions"] == []


def test_tweets_without_mentions_share_a_list_where_defaults_are_shared() -> None:
    """As in the official class, of all environments of a process."""
    posting, other, third = make_network(), make_network(), make_network()
    posting.share_defaults(other)
    for each in (posting, other, third):
        each.post_tweet("one")
        each.post_tweet("two", mentions=[])
    posting.mention(5, ["grace"])
    other.mention(6, ["emmy"])
    mentions = [[each.get_tweet(number)["mentions"] for number in (5, 6)] for each in (posting, other, third)]
    assert mentions == [[["grace"], []], [["grace"], ["emmy"]], [[], []]]
    assert other.post_tweet("three")["mentions"] == ["grace"]


def test_a_tweet_is_shared_once() -> None:
    posting = make_network()
    assert posting.retweet(4) == {"retweet_status": "Successfully retweeted"}
    assert posting.retweet(4) == {"retweet_status": "Already retweeted"}
    assert posting.retweets == {"ada": [4]}


def test_comments_of_the_configuration_are_never_found() -> None:
    """Official: their ids stay texts, while those of tweets become numbers."""
    posting = make_network(comments={"4": [{"username": "grace", "content": "old"}]})
    assert posting.get_tweet_comments(4) == []
    assert posting.comment(4, "new") == {"comment_status": "Comment added successfully"}
    assert posting.get_tweet_comments(4) == [{"username": "ada", "content": "new"}]
    assert list(posting.comments) == ["4", 4]


def test_mentioning_needs_no_login_and_works_on_tweets_of_others() -> None:
    posting = make_network(authenticated=False)
    assert posting.mention(4, ["grace"]) == {"mention_status": "Users mentioned successfully"}
    assert posting.tweets[4]["mentions"] == ["grace"]


def test_a_user_can_be_followed_and_unfollowed_once() -> None:
    posting = make_network()
    assert posting.follow_user("grace") == {"follow_status": True}
    assert posting.follow_user("grace") == {"follow_status": False}
    assert posting.list_all_following() == {"following_list": ["charles", "grace"]}
    assert posting.unfollow_user("charles") == {"unfollow_status": True}
    assert posting.unfollow_user("charles") == {"unfollow_status": False}
    assert posting.following_list == ["grace"]


@each_case(
    ("keyword", "found"), [("engine", True), ("TURNS", True), ("#brass", True), ("brass", False), ("", True)]
)
def test_a_search_looks_into_texts_and_for_whole_tags(keyword: str, found: bool) -> None:
    assert make_network().search_tweets(keyword) == ([ENGINE] if found else [])


def test_tweets_and_counts_of_a_user() -> None:
    posting = make_network(retweets={"charles": [1, 2]})
    assert posting.get_user_tweets("charles") == [ENGINE]
    assert posting.get_user_tweets("ada") == []
    assert posting.get_user_stats("charles") == {"tweet_count": 1, "following_count": 0, "retweet_count": 2}
    assert posting.get_user_stats("ada") == {"tweet_count": 0, "following_count": 1, "retweet_count": 0}


@given(CALLS)
def test_no_call_reaches_beyond_its_network(calls: list[tuple[str, list[object]]]) -> None:
    posting, other = make_network(), make_network()
    config, world, state = deepcopy(CONFIG), deepcopy(WORLD), deepcopy(other.state())
    posting.mention(4, ["grace"])
    for function, arguments in calls:
        with suppress(Exception):
            getattr(posting, function)(*arguments)
    assert (CONFIG, WORLD, other.state()) == (config, world, state)

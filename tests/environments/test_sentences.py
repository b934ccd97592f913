"""Sentences of results: ours, or those of the world, which are templates by function and number."""

from __future__ import annotations

import re

from pytest_fcbench.environments.api.messages import Messages
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import World, write_sentence
from tests.cases import each_case

EXECUTOR = {"execute_multi_turn_func_call": ["{func_call_copy} is forbidden.", "It went wrong: {value}"]}

USERS = {"generated_ids": [], "user_count": 1, "user_map": {"Ada": "USR1"}, "inbox": [], "message_count": 0}
WORLD = World(
    defaults={"messages": {**USERS, "current_user": None, "random_seed": 1}},
    sentences={"executor": EXECUTOR, "messages": {"get_user_id": ["Who is {user}, and {{why}}?"]}},
    class_names={"messages": "PostOffice"},
)


def perform(call: str) -> str:
    (result,) = Environments({"messages": Messages({}, WORLD)}, WORLD).perform_calls([call])
    return result


def test_a_sentence_of_the_world_comes_before_ours() -> None:
    sentences = {"open": ["It is {state}.", "It was {state}."]}
    assert write_sentence(sentences, "ours, {state}", "open", 1, {"state": "shut"}) == "It was shut."
    assert write_sentence(sentences, "ours, {state}", "close", 1, {"state": "shut"}) == "ours, shut"


def test_braces_of_a_value_stay() -> None:
    assert write_sentence({}, "no {name}", "f", 0, {"name": "{0} {name}"}) == "no {0} {name}"


def test_a_result_has_the_sentence_of_the_world() -> None:
    assert perform("get_user_id(user='Bo')") == '{"error": "Who is Bo, and {why}?"}'


# A function without a sentence in the world keeps ours.
def test_a_result_without_one_has_ours() -> None:
    assert perform("add_contact(user_name='Ada')") == '{"error": "the name \'Ada\' is taken"}'


PYTHON = {
    "get_user_id()": "PostOffice.get_user_id() missing 1 required positional argument: 'user'",
    "get_user_id(user='Ada', age=3)": "PostOffice.get_user_id() got an unexpected keyword argument 'age'",
    "get_user_name(user='Ada')": "name 'get_user_name' is not defined",
    "Messages.get_user_id(user='Ada')": "name 'Messages' is not defined",
    "get_user_id(user=nan)": "name 'nan' is not defined",
    "get_user_id now()": "invalid syntax (<string>, line 1)",
    "get_user_id(user=[])": "unhashable type: 'list'",
    "get_user_id(user='Ada', user=1)": "keyword argument repeated: user (<string>, line 1)",
}


@each_case(("call", "problem"), PYTHON.items(), ids=PYTHON)
def test_errors_are_pythons_own_where_the_executor_has_sentences(call: str, problem: str) -> None:
    answer = perform(call)
    # Python 3.14 says before it what the list was used for.
    assert re.sub(r"cannot use .* \((.*)\)$", r"\1", answer) == f"It went wrong: {problem}"


EVALUATED = {
    "()": "()",
    "get_user_id(user='Ada') or 1": '{"user_id": "USR1"}',
    "0 or get_user_id(user='Ada')": '{"user_id": "USR1"}',
    "get_user_id (user='Ada')": '{"user_id": "USR1"}',
    "get_user_id(user='x (y')": '{"error": "Who is x(y, and {why}?"}',
}


@each_case(("text", "result"), EVALUATED.items(), ids=EVALUATED)
def test_what_the_official_executor_evaluates_has_its_value(text: str, result: str) -> None:
    assert perform(text) == result


FORBIDDEN = {"kill(pid=1)": "kill", "os.remove('x')": "remove", "run": "run", "quit ()": "quit"}


@each_case(("call", "name"), FORBIDDEN.items(), ids=FORBIDDEN)
def test_what_the_official_executor_refuses_is_refused(call: str, name: str) -> None:
    assert perform(call) == f"It went wrong: {name} is forbidden."


def test_only_the_name_of_the_call_is_refused() -> None:
    assert perform("get_user_id(user='kill')") == '{"error": "Who is kill, and {why}?"}'


def test_other_methods_keep_their_names() -> None:
    class Bell(Environment):
        def ring(self, times: int) -> int:
            return times

    made = Environments({"bell": Bell({}, World())}, World())
    assert made.perform_calls(["ring()"])[0].endswith(
        "Bell.ring() missing 1 required positional argument: 'times'"
    )

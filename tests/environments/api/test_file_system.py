"""The file system: its commands, its odd copies, and trees that contain themselves."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.file_system import MAX_ITEMS, Directory, File, FileSystem, build_tree
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import Filler, World
from tests.cases import each_case

HOME = {
    "docs": {"plan.txt": "one\ntwo", "old": {"plan.txt": "zero"}},
    "empty": {},
    "list.txt": "pear\napple\n\nfig tart",
    ".secret": "s",
}


def describe_tree(contents: dict[str, Any]) -> dict[str, Any]:
    """Write a tree as configurations do."""
    return {
        name: {"type": "file", "content": item}
        if isinstance(item, str)
        else {"type": "directory", "contents": describe_tree(item)}
        for name, item in contents.items()
    }


def make_config(contents: dict[str, Any]) -> dict[str, object]:
    return {"root": {"home": {"type": "directory", "contents": describe_tree(contents)}}}


def make_home(contents: dict[str, Any] = HOME, *moves: str) -> FileSystem:
    """Make a file system whose current folder is the last one named."""
    files = FileSystem(make_config(contents), World())
    for folder in moves:
        files.cd(folder)
    return files


def is_refused(answer: object) -> bool:
    return isinstance(answer, dict) and list(answer) == ["error"] and bool(answer["error"])


def test_state_and_hidden_state() -> None:
    files = make_home(HOME, "docs", "old")
    assert list(files.state()) == ["long_context", "root"]
    assert build_tree(files.root) == HOME
    assert files.get_hidden_state() == {"current_directory": ["home", "docs", "old"]}


def test_without_configuration_there_is_an_empty_root() -> None:
    files = FileSystem({}, World(defaults={"file_system": None}))  # type: ignore[dict-item]
    assert (files.root, files.pwd()) == (Directory("/"), {"current_working_directory": "//"})
    with pytest.raises(ValueError, match="no folder"):
        FileSystem({"root": {}}, World())


def test_only_the_first_root_and_known_types_count() -> None:
    root = {"type": "directory", "contents": {"f": {"type": "file", "content": ""}, "l": {"type": "link"}}}
    files = FileSystem({"root": {"a": root, "b": root}}, World())
    assert files.root == Directory("a", None, {"f": File("f")})


def test_filler_makes_files_long_and_folders_full() -> None:
    filler = Filler(file_text="...", spared_files=["b"], file_names=["x", "y"])
    contents = {"a": "1", "b": "2", "d": {"e": {}, "f": {"x": "3"}}}
    files = FileSystem(make_config(contents), World(filler=filler), long_context=True)
    full = {"x": "", "y": ""}
    assert build_tree(files.root) == {"a": "1...", "b": "2", "d": {"e": full, "f": {"x": "3...", "y": ""}}}
    assert files.long_context is True


@each_case(
    ("folder", "answer", "path"),
    [
        ("old", {"current_working_directory": "old"}, "/home/docs/old"),
        ("old/", {"current_working_directory": "old"}, "/home/docs/old"),
        ("..", {}, "/home"),
        (".", {"current_working_directory": "docs"}, "/home/docs"),
        ("/", {"current_working_directory": "home"}, "/home"),
        ("", {"current_working_directory": "home"}, "/home"),
        ("nowhere", None, "/home/docs"),
        ("plan.txt", None, "/home/docs"),
        ("../empty", None, "/home/docs"),
    ],
)
def test_cd_moves_to_a_folder_or_stays_where_it_is(folder: str, answer: object, path: str) -> None:
    files = make_home(HOME, "docs")
    said = files.cd(folder)
    assert is_refused(said) if answer is None else said == answer
    assert files.pwd() == {"current_working_directory": path}


def test_nothing_lies_above_the_root() -> None:
    assert is_refused(make_home().cd(".."))


@each_case(
    ("name", "arguments", "answer"),
    [
        ("ls", (), {"current_directory_content": ["docs", "empty", "list.txt"]}),
        ("ls", (True,), {"current_directory_content": ["docs", "empty", "list.txt", ".secret"]}),
        ("cat", ("list.txt",), {"file_content": "pear\napple\n\nfig tart"}),
        ("wc", ("list.txt",), {"count": 4, "type": "lines"}),
        ("wc", ("list.txt", "w"), {"count": 4, "type": "words"}),
        ("wc", ("list.txt", "c"), {"count": 20, "type": "characters"}),
        ("sort", ("list.txt",), {"sorted_content": "\napple\nfig tart\npear"}),
        ("grep", ("list.txt", "ar"), {"matching_lines": ["pear", "fig tart"]}),
        ("grep", ("list.txt", "."), {"matching_lines": []}),
        ("tail", ("list.txt", 2), {"last_lines": "\nfig tart"}),
        ("tail", ("list.txt",), {"last_lines": "pear\napple\n\nfig tart"}),
        ("tail", ("list.txt", 0), {"last_lines": "pear\napple\n\nfig tart"}),
        ("tail", ("list.txt", -3), {"last_lines": "fig tart"}),
        ("diff", ("list.txt", ".secret"), {"diff_lines": "- pear\n+ s"}),
        ("diff", ("list.txt", "list.txt"), {"diff_lines": ""}),
        ("du", (), {"disk_usage": "32 bytes"}),
        ("du", (True,), {"disk_usage": "32.00 B"}),
        ("find", (".", "plan"), {"matches": ["./docs/plan.txt", "./docs/old/plan.txt"]}),
        ("find", ("docs/",), {"matches": ["docs/plan.txt", "docs/old", "docs/old/plan.txt"]}),
        ("find", ("/docs/./old",), {"matches": ["/docs/./old/plan.txt"]}),
        ("find", ("/", "et"), {"matches": ["/.secret"]}),
        ("echo", ("hello",), {"terminal_output": "hello"}),
        ("echo", ("hello", ""), {"terminal_output": "hello"}),
    ],
)
def test_reading_answers_and_changes_nothing(
    name: str, arguments: tuple[object, ...], answer: object
) -> None:
    files = make_home()
    assert getattr(files, name)(*arguments) == answer
    assert build_tree(files.root) == HOME


@each_case(
    ("name", "arguments"),
    [
        *[
            (name, (file,))
            for name in ("cat", "wc", "sort", "tail")
            for file in ("docs", "none", "docs/plan.txt")
        ],
        ("grep", ("none", "x")),
        ("wc", ("list.txt", "lines")),
        ("diff", ("list.txt", "none")),
        ("diff", ("docs", "list.txt")),
        ("find", ("none",)),
        ("find", ("",)),
        ("find", ("..",)),
        ("echo", ("x", "new.txt")),
        ("echo", ("x", "a|b")),
        ("mkdir", ("docs",)),
        ("mkdir", ("a/b",)),
        ("touch", ("docs",)),
        ("touch", ("what?",)),
        ("mv", ("none", "x")),
        ("mv", ("list.txt", "docs/x")),
        ("mv", ("list.txt", ".secret")),
        ("cp", ("none", "x")),
        ("cp", ("docs", "list.txt")),
        ("cp", ("list.txt", "docs/x")),
        ("rm", ("none",)),
        ("rmdir", ("none",)),
        ("rmdir", ("docs",)),
        ("rmdir", ("list.txt",)),
    ],
)
def test_refusals_change_nothing(name: str, arguments: tuple[object, ...]) -> None:
    files = make_home()
    assert is_refused(getattr(files, name)(*arguments))
    assert build_tree(files.root) == HOME


SHELF = {"a": {"f": "1", "c": {}}, "b": {"f": {}, "a": "1"}, "c": {}, "f": "1", "g": "2"}
Failing = tuple[str, list[object]]
ALIKE: list[list[Failing]] = [
    [("cd", [".."]), ("cd", ["../"])],
    [("cd", ["none"]), ("cd", ["none/"])],
    [("cd", ["f"])],
    [("cd", ["a/c"]), ("cd", ["a/c/"])],
    [("cat", ["none"])],
    [("cat", ["a"])],
    [("cat", ["a/f"])],
    [("rm", ["7"]), ("rm", [7])],
    [("sort", ["7"]), ("sort", [7])],
    [("tail", ["7"]), ("tail", [7, 3])],
    [("sort", ["a"])],
    [("tail", ["a"])],
    [("wc", ["none"]), ("wc", ["none", "w"])],
    [("wc", ["f", None]), ("wc", ["none", "None"])],  # as a text it is the same
    [("grep", ["none", "x"]), ("grep", ["none", "y"])],
    [("echo", ["1", "none"]), ("echo", ["2", "none"])],
    [("echo", ["1", "a/f"])],
    [("echo", ["1", "a"]), ("echo", ["1", "b"])],
    [("find", ["none"]), ("find", ["none", "x"])],
    [("find", ["a/none"])],
    [("diff", ["a", "f"])],
    [("diff", ["f", "a"])],
    [("mkdir", ["f"])],
    [("touch", ["f"])],
    [("mkdir", ["f?"])],
    [("touch", ["f?"])],
    [("mv", ["none", "x"]), ("mv", ["none", "a/f"])],
    [("cp", ["none", "x"]), ("cp", ["none", "a/f"])],
    [("mv", ["f", "a/f"]), ("mv", ["g", "/"])],
    [("cp", ["f", "a/f"]), ("cp", ["g", "/"])],
    [("mv", ["f", "g"])],
    [("mv", ["g", "f"])],
    [("cp", ["f", "g"])],
    [("cp", ["g", "f"])],
    [("mv", ["f", "a"])],
    [("mv", ["f", "b"])],
    [("cp", ["f", "a"])],
    [("cp", ["f", "b"])],  # which names the kind of what is copied, not of what is there
    [("cp", ["a", "b"])],
    [("rmdir", ["none"])],
    [("rmdir", ["f"])],
    [("rmdir", ["a"])],
]
"""Commands and their arguments on the shelf: one list for each text."""


def error_of(name: str, arguments: list[object]) -> str:
    try:
        return str(getattr(make_home(SHELF), name)(*arguments)["error"])
    except OSError as error:
        return str(error)


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


def test_sizes_can_be_shown_in_kilobytes_and_megabytes() -> None:
    assert make_home({"f": "é" * 3000}).du(True) == {"disk_usage": "5.86 KB"}
    assert make_home({"f": "x" * 3_000_000}).du(True) == {"disk_usage": "2.86 MB"}


@each_case(
    ("name", "arguments", "answer", "after"),
    [
        ("mkdir", ("new",), None, {"a": "1", "d": {}, "new": {}}),
        ("touch", ("new",), None, {"a": "1", "d": {}, "new": ""}),
        ("echo", ("2", "a"), None, {"a": "2", "d": {}}),
        ("rm", ("a",), {"result": "'a' removed"}, {"d": {}}),
        ("rm", ("d",), {"result": "'d' removed"}, {"a": "1"}),
        ("rmdir", ("d",), {"result": "'d' removed"}, {"a": "1"}),
        ("mv", ("a", "b"), {"result": "'a' moved to 'b'"}, {"d": {}, "b": "1"}),
        ("mv", ("a", "d"), {"result": "'a' moved to 'd/a'"}, {"d": {"a": "1"}}),
        ("cp", ("a", "b"), {"result": "'a' copied to 'b'"}, {"a": "1", "d": {}, "b": "1"}),
        ("cp", ("a", "d"), {"result": "'a' copied to 'd/a'"}, {"a": "1", "d": {"a": "1"}}),
        ("cp", ("d", "e"), {"result": "'d' copied to 'e'"}, {"a": "1", "d": {}, "e": {}}),
    ],
)
def test_a_command_changes_the_tree_as_it_says(
    name: str, arguments: tuple[str, ...], answer: object, after: object
) -> None:
    files = make_home({"a": "1", "d": {}})
    assert getattr(files, name)(*arguments) == answer
    assert build_tree(files.root) == after


def test_what_exists_at_the_goal_stays() -> None:
    files = make_home({"a": "1", "d": {"a": "2"}})
    assert is_refused(files.mv("a", "d"))
    with pytest.raises(FileExistsError, match="the folder 'd'"):
        files.cp("a", "d")
    with pytest.raises(IsADirectoryError, match="a folder"):
        files.echo("x", "d")
    assert build_tree(files.root) == {"a": "1", "d": {"a": "2"}}


def test_a_copied_folder_shares_its_children() -> None:
    files = make_home({"a": {"f": "1", "in": {}}})
    files.cp("a", "b")
    for folder in ("b", "in"):
        files.cd(folder)
    files.touch("deep")
    assert files.pwd() == {"current_working_directory": "/home/a/in"}
    files.cd("..")
    files.echo("2", "f")
    files.touch("own")
    assert build_tree(files.root) == {
        "a": {"f": "2", "in": {"deep": ""}, "own": ""},
        "b": {"f": "2", "in": {"deep": ""}},
    }


def test_a_copied_file_is_on_its_own() -> None:
    files = make_home({"a": "1"})
    files.cp("a", "b")
    files.echo("2", "b")
    assert build_tree(files.root) == {"a": "1", "b": "2"}


def test_the_way_up_from_a_moved_folder_is_the_old_one() -> None:
    files = make_home({"a": {"in": {}}})
    files.mv("a", "b")
    for folder in ("b", "in", ".."):
        files.cd(folder)
    assert files.pwd() == {"current_working_directory": "/home/a"}
    files.touch("f")
    assert build_tree(files.root) == {"b": {"in": {}, "f": ""}}


def test_an_item_named_like_the_current_folder_stands_for_it() -> None:
    files = make_home({"a": "1"})
    files.touch(".")
    assert is_refused(files.cat("."))
    assert files.cp(".", "b") == {"result": "'.' copied to 'b'"}
    with pytest.raises(ValueError, match="lies in itself"):
        build_tree(files.root)


@pytest.mark.parametrize(
    "walk", [lambda files: files.find(), lambda files: files.du(), lambda f: build_tree(f.root)]
)
def test_a_folder_in_itself_is_walked_to_an_end(walk: Any) -> None:
    files = make_home({"a": {"f": "1"}})
    files.cp("a", "a")
    with pytest.raises(ValueError, match="a folder lies in itself"):
        walk(files)
    assert repr(files.root) == "Directory('home', ['a'])"


def test_a_folder_moved_into_itself_is_gone() -> None:
    files = make_home({"a": {"f": "1"}})
    assert files.mv("a", "a") == {"result": "'a' moved to 'a/a'"}
    assert build_tree(files.root) == {}


def test_a_tree_that_doubles_is_refused_and_still_compared() -> None:
    def make_doubled() -> FileSystem:
        files = make_home({"a": {"f": "1"}})
        for number in range(40):
            files.cp("a", f"b{number}")
            files.mv(f"b{number}", "a")
        return files

    files, same = make_doubled(), make_doubled()
    with pytest.raises(ValueError, match=str(MAX_ITEMS)):
        files.find()
    assert files.root == same.root
    same.cd("a")
    same.cd("b39")
    same.touch("g")
    assert files.root != same.root


def test_equality_is_of_names_and_contents() -> None:
    assert make_home({"a": "1", "d": {"b": "2"}}).root == make_home({"d": {"b": "2"}, "a": "1"}).root
    assert make_home({"a": "1"}).root != make_home({"a": "2"}).root
    assert make_home({"a": "1"}).root != make_home({"b": "1"}).root
    assert make_home({"a": ""}).root != make_home({"a": {}}).root
    assert make_home({"d": {}}, "d")._here == Directory("d")
    assert make_home({}).root != "home"


def test_folders_in_themselves_are_compared() -> None:
    one, other = make_home({"a": {}}), make_home({"a": {}})
    for files in (one, other):
        files.cp("a", "a")
    assert one.root == other.root
    one.cd("a")
    one.touch("f")
    assert one.root != other.root


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=2)
names = st.sampled_from(["docs", "old", "empty", "list.txt", "plan.txt", "new", ".", "..", "/"])
values = names | st.recursive(scalars, lambda inner: st.lists(inner, max_size=2), max_leaves=3)
calls = st.tuples(st.sampled_from(list_functions(FileSystem)), st.lists(values, max_size=2))


@given(st.lists(calls, max_size=20), st.booleans())
def test_any_calls_stay_within_their_instance(
    made: list[tuple[str, list[object]]], long_context: bool
) -> None:
    given_config, world = make_config(HOME), World(filler=Filler(file_text="...", file_names=["x"]))
    files, other = (FileSystem(given_config, world, long_context=long_context) for _ in range(2))
    before = build_tree(other.root)
    for name, arguments in made:
        try:
            answer = getattr(files, name)(*deepcopy(arguments))
        except Exception:  # noqa: BLE001
            continue
        assert answer is None or isinstance(answer, dict)
    assert files.get_hidden_state()["current_directory"]
    assert (build_tree(other.root), given_config) == (before, make_config(HOME))
    assert world == World(filler=Filler(file_text="...", file_names=["x"]))

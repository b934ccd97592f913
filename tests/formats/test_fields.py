"""Raw values are narrowed with errors that name file, line and field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.formats import yaml_files
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import Key, find_yaml_line, read_yaml
from tests.cases import each_case

TEXT = """\
# a comment
name: garden
beds:
  - plant: leek
    rows: 4

  - plant: chard
    rows: [1, 2]
2024: a year
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "garden.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def top(path: Path) -> Field:
    return Field(read_yaml(path), path)


def test_yaml_is_read_as_plain_values(path: Path) -> None:
    assert read_yaml(path) == {
        "name": "garden",
        "beds": [{"plant": "leek", "rows": 4}, {"plant": "chard", "rows": [1, 2]}],
        "2024": "a year",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-07-01", "2026-07-01"),
        ("2026-02-30", "2026-02-30"),
        ("2026-07-01T10:00:00Z", "2026-07-01T10:00:00Z"),
        ("12:30", "12:30"),
        ("-1:30.5", "-1:30.5"),
        ("-5", -5),
        ("1_000", 1000),
        ("1.5e-3", 0.0015),
        ("0x1F", 31),
    ],
)
def test_days_and_times_are_text_and_numbers_are_numbers(path: Path, text: str, value: object) -> None:
    path.write_text(f"at: {text}\n", encoding="utf-8")
    assert read_yaml(path) == {"at": value}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def _read_as_yaml(text: str) -> object:
    """Return what PyYAML makes of a text, or the class of its error."""
    try:
        return yaml.load(text, Loader=yaml_files._Loader)
    except yaml.YAMLError:
        return SuiteError


def _read_by_ours(path: Path) -> object:
    try:
        return read_yaml(path)
    except SuiteError:
        return SuiteError


@given(value=_JSON, indent=st.sampled_from([None, 1]), escaped=st.booleans())
def test_json_is_read_as_yaml_reads_it(
    tmp_path_factory: pytest.TempPathFactory, value: object, indent: int | None, escaped: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    path = tmp_path_factory.getbasetemp() / "value.yaml"
    path.write_text(text, encoding="utf-8", errors="ignore")
    expected = _read_as_yaml(path.read_text(encoding="utf-8"))
    # Of unprintable characters YAML refuses some, which need not be refused. At three others it ends a line
    # of a text, which JSON does not.
    if expected is not SuiteError and not set(text) & set("\x85\u2028\u2029"):
        assert _read_by_ours(path) == expected


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_a_text_keeps_the_ends_of_lines_that_only_yaml_knows(tmp_path: Path, separator: str) -> None:
    (path := tmp_path / "value.yaml").write_text(f'{{"a": "b{separator}c"}}', encoding="utf-8")
    assert read_yaml(path) == {"a": f"b{separator}c"}


@each_case(
    "text",
    [
        *(
            '{"a": 1, "a": 2}',
            '{"a": NaN}',
            '{"a": 1e5}',
            "[1.5e+3, 1.5E3]",
            r'"\ud800"',
            r'["\\ud83d\ude00"]',
        ),
        *('{"a": "b\n  c"}', "{a: 1}", '{"a": 1,}', "[1, 2] # two", "", "[" * 5_000, '{"<<": {"a": 1}}'),
    ],
)
def test_what_only_resembles_json_is_read_as_yaml_reads_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "value.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        expected = _read_as_yaml(text)
    except RecursionError:
        expected = SuiteError
    assert _read_by_ours(path) == expected


def test_a_character_in_two_halves_is_read_as_json_has_it(path: Path) -> None:
    path.write_text('{"a": "\\ud83d\\ude00",\n "b": 1}')
    field = Field(read_yaml(path), path)
    assert field.value == {"a": "\U0001f600", "b": 1}
    assert str(field.at("b").error("is odd")) == f"{path}:2: b: is odd"


def test_a_large_file_of_json_takes_no_reader_of_yaml(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text('{"a": [1, 2.5]}')
    monkeypatch.delattr(yaml, "load")
    assert read_yaml(path) == {"a": [1, 2.5]}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(SuiteError) as caught:
        read_yaml(path)
    assert str(caught.value) == f"{path}: cannot be read: No such file or directory; give a readable file"


@each_case(
    ("content", "says"),
    [
        pytest.param(b"x: 1\na: [1, 2\nb: 3\n", ":2: not valid YAML: what is opened here", id="bracket"),
        pytest.param(b'x: 1\na: "1\n', ":2: not valid YAML: what is opened here by a quote", id="quote"),
        pytest.param(b"a: b: c\n", ":1: not valid YAML: a second colon", id="two colons"),
        pytest.param(b"a:\n\t- b\n", ":2: not valid YAML: a tab", id="tab"),
        pytest.param(b"a:\n  b: 1\n c: 2\n", ":3: not valid YAML: a line that is indented", id="indent"),
        pytest.param(b"a: 1\nb\nc: 1\n", ":3: not valid YAML: a key without a colon", id="no colon"),
        pytest.param(b"a: *b\n", ":1: not valid YAML: a text that begins with *", id="alias"),
        pytest.param(b'a: "\\q"\n', ":1: not valid YAML: a backslash", id="backslash"),
        pytest.param(b"a: 1\na: 2\n", ":2: not valid YAML: the key 'a' is used twice; correct", id="twice"),
        pytest.param(b"a: \xff\xfe\n", "codec can't decode", id="not UTF-8"),
        pytest.param(
            b"a: !!python/object/apply:os.getcwd []\n",
            ":1: not valid YAML: a text that begins with !",
            id="tag",
        ),
        pytest.param(b"a: !!bool maybe\n", "maybe", id="tag that the value does not fit"),
    ],
)
def test_what_is_not_plain_yaml_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(SuiteError) as caught:
        read_yaml(path)
    message = str(caught.value)
    assert re.match(rf"{re.escape(str(path))}(:\d+)?: not valid YAML: ", message)
    assert says in message
    assert len(message.splitlines()) == 1


_REPEATED = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))


@each_case(
    ("text", "says"),
    [
        pytest.param("a: 1\nb: &a [*a]\n", "2: an alias in this value names the value itself", id="itself"),
        pytest.param(f"a0: &a0 1\n{_REPEATED}\n", "6: aliases repeat more than 100,000 values", id="aliases"),
        pytest.param(f"\na: 0x{'f' * 5_000}\n", "2: a number of 5,002 digits; put text", id="base 16"),
        pytest.param(f"\na: {'9' * 5_000}\n", "2: a number of 5,000 digits; put text", id="base 10"),
    ],
)
def test_a_text_that_makes_more_than_it_is_has_a_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "endless.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=re.escape(f"{path}:{says}")):
        read_yaml(path)


def test_an_alias_and_a_long_text_are_no_errors(tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_text(f"a: &a [1]\nb: [*a, *a]\nc: {'c' * 5_000}\n", encoding="utf-8")
    assert read_yaml(path) == {"a": [1], "b": [[1], [1]], "c": "c" * 5_000}


def test_a_value_is_not_followed_without_end(tmp_path: Path) -> None:
    field = Field(json.loads("[" * 200 + "]" * 200), tmp_path / "deep.jsonl", (), 1)
    with pytest.raises(SuiteError, match="is nested too deeply"):  # noqa: PT012 - it is found on the way
        while True:
            field = next(field.elements())


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        pytest.param((), 1, id="file"),
        pytest.param(("name",), 2, id="scalar"),
        pytest.param(("beds",), 3, id="key of a list"),
        pytest.param(("beds", 0), 4, id="element"),
        pytest.param(("beds", 0, "rows"), 5, id="member of an element"),
        pytest.param(("beds", 1, "plant"), 7, id="after an empty line"),
        pytest.param(("beds", 1, "rows", 1), 8, id="element in one line"),
        pytest.param(("2024",), 9, id="key that is a number"),
        pytest.param(("beds", 1, "colour"), 7, id="missing key: where it would stand"),
        pytest.param(("beds", 7), 3, id="missing element: its list"),
    ],
)
def test_line_of_a_value(path: Path, keys: tuple[Key, ...], line: int) -> None:
    assert find_yaml_line(path, keys) == line


def test_the_way_to_a_field_is_part_of_its_error(top: Field, path: Path) -> None:
    bed = list(top.members()["beds"].elements())[1]
    assert str(bed.members()["rows"].error("too many")) == f"{path}:8: beds.1.rows: too many"


def test_an_error_about_the_whole_file_says_so(top: Field, path: Path) -> None:
    assert str(top.error("is odd")) == f"{path}:1: file: is odd"


def test_members_without_names_takes_any_key_and_makes_it_text(top: Field) -> None:
    assert list(top.members()) == ["name", "beds", "2024"]


def _take_first_bed(top: Field) -> Field:
    return next(top.members()["beds"].elements())


def test_optional_members_may_be_missing(top: Field) -> None:
    assert _take_first_bed(top).members(("plant",), ("rows", "soil")).keys() == {"plant", "rows"}


WRONG: list[tuple[str, Callable[[Field], object], str]] = [
    (
        "text for a mapping",
        lambda f: f.members()["name"].members(),
        "2: name: must be a mapping, not str 'garden'",
    ),
    (
        "list for a mapping",
        lambda f: f.members()["beds"].members(),
        "3: beds: must be a mapping, not list [{'plant'",
    ),
    (
        "mapping for a list",
        lambda f: _take_first_bed(f).elements(),
        "4: beds.0: must be a list, not dict {'plant'",
    ),
    (
        "number for text",
        lambda f: _take_first_bed(f).members()["rows"].text(),
        "5: beds.0.rows: must be text, not int 4; put it in quotes",
    ),
    (
        "unknown key",
        lambda f: _take_first_bed(f).members(("plant",), ("row",)),
        "5: beds.0.rows: unknown key 'rows'. Did you mean 'row'? Valid: plant, row.",
    ),
    (
        "missing key",
        lambda f: _take_first_bed(f).members(("plant", "rows", "soil")),
        "4: beds.0: has no 'soil'",
    ),
]


@pytest.mark.parametrize(("act", "says"), [pytest.param(*rest, id=name) for name, *rest in WRONG])
def test_wrong_shapes_are_told_with_line_and_field(
    top: Field, path: Path, act: Callable[[Field], object], says: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        act(top)
    assert str(caught.value).startswith(f"{path}:{says}")


@pytest.mark.parametrize(
    ("act", "says"),
    [
        pytest.param(Field.members, "must be a mapping, not empty", id="members"),
        pytest.param(Field.elements, "must be a list, not empty", id="elements"),
        pytest.param(Field.text, "must be text, not empty; put it in quotes", id="text"),
    ],
)
def test_an_empty_value_is_called_empty(tmp_path: Path, act: Callable[[Field], object], says: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        act(Field(read_yaml(path), path))
    assert str(caught.value) == f"{path}:1: file: {says}"


def test_a_long_value_is_shown_short(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(f"a: {'x' * 500}\n", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        Field(read_yaml(path), path).members()["a"].elements()
    assert str(caught.value) == f"{path}:1: a: must be a list, not str '{'x' * 39}"


def test_a_key_keeps_the_word_it_was_written_with(tmp_path: Path) -> None:
    path = tmp_path / "lamp.yaml"
    path.write_text("room: hall\non: 1\n", encoding="utf-8")
    assert list(Field(read_yaml(path), path).members()) == ["room", "on"]


def test_a_key_written_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("city: [Bergen]\ncity: [Oslo]\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="city"):
        read_yaml(path)


def test_what_can_be_read_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "question.yaml"
    path.write_text("ask: {query: Is it open?}\n", encoding="utf-8")
    field = Field(read_yaml(path), path).members()["ask"]
    assert str(field.error("is odd")) == f"{path}:1: ask: is odd"


def test_a_field_of_a_record_in_a_line_is_told_with_that_line() -> None:
    record = Field({"beds": [{"plant": 7, "rows": 4}]}, Path("beds.jsonl"), line=12)
    (bed,) = record.member("beds").elements()
    assert bed.member("rows").value == 4
    with pytest.raises(SuiteError, match=r"^beds\.jsonl:12: beds\.0\.plant: must be text, not int 7"):
        bed.member("plant").text()
    with pytest.raises(SuiteError, match=r"^beds\.jsonl:12: beds\.0: has no 'shade'$"):
        bed.member("shade")
    with pytest.raises(SuiteError, match=r"^beds\.jsonl:12: beds: must be a mapping, not list"):
        record.member("beds").member("x")

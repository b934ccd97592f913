"""Measure names, docstrings and comments: ``python -m tests.naming [--list FIGURE] [--draw N SEED]``.

Six figures, for the package and for its tests:

- one-word names: functions of a single word, in percent of all but properties
- participles: functions that begin with a past participle (``written``), in percent of the same
- named once: private functions that their file names once besides the definition, in percent of all functions
- bindings: variables and parameters that are a bare past participle (``found``), in percent of all
- not imperative: docstrings of functions that violate ruff's D401, in percent of all but those of properties
- comments: lines that hold only a comment, per 100 lines of code

Names that Python or pytest chose (``__init__``, ``test_...``) count for neither of the first two.
``tests/test_naming.py`` holds the package to ``LIMITS``.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import random
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.house import PACKAGE, ROOT, count_code_lines

ONE_WORD = "one-word names %"
PARTICIPLES = "participles %"
NAMED_ONCE = "named once %"
BINDINGS = "bindings %"
NOT_IMPERATIVE = "not imperative %"
COMMENTS = "comments per 100"

LIMITS: Mapping[str, tuple[float, float]] = {
    ONE_WORD: (0, 19),
    PARTICIPLES: (0, 1),
    NAMED_ONCE: (0, 12),
    BINDINGS: (0, 3.5),
    NOT_IMPERATIVE: (0, 1),
    COMMENTS: (3.0, 7),
}
"""The lowest and the highest value that each figure of the package may have."""

IRREGULAR_PARTICIPLES = """
begun bought bound broken brought built caught chosen done drawn driven fallen felt found given gone got heard
held hidden kept known learnt led left lost made meant met paid rewritten said seen sent shown sold sought
spent spoken stood stuck taken taught thought thrown told torn understood undone won worn woven written
"""
ENDING_IN_ED = frozenset(
    ["embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed", "succeed"]
)
"""Verbs and nouns that look like a participle."""


@dataclass(frozen=True, slots=True)
class Function:
    """One definition of a function: its place, and what its figures depend on."""

    path: Path
    line: int
    name: str
    is_property: bool
    has_docstring: bool
    uses_in_file: int

    @property
    def is_special(self) -> bool:
        """Whether Python or pytest chose the name."""
        return self.name.startswith("test_") or (self.name.startswith("__") and self.name.endswith("__"))

    @property
    def is_named_by_us(self) -> bool:
        """Whether the figures of names count the function."""
        return not (self.is_special or self.is_property)

    @property
    def words(self) -> Sequence[str]:
        """The words of the name."""
        return self.name.strip("_").split("_")


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable or a parameter where it gets its value."""

    path: Path
    line: int
    name: str


def find_bindings(path: Path) -> Iterator[Binding]:
    """Yield the variables and parameters of a file, each as often as it gets a value."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Binding(path, node.lineno, node.id)
        elif isinstance(node, ast.arg):
            yield Binding(path, node.lineno, node.arg)


def find_functions(path: Path) -> Iterator[Function]:
    """Yield the functions and methods that a file defines, also inside others."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(
                path,
                node.lineno,
                node.name,
                any("property" in ast.unparse(decorator) for decorator in node.decorator_list),
                ast.get_docstring(node) is not None,
                uses[node.name],
            )


def is_one_word(function: Function) -> bool:
    """Tell whether a name consists of a single word."""
    return function.is_named_by_us and len(function.words) == 1


def is_participle(function: Function) -> bool:
    """Tell whether a name begins with a past participle."""
    return function.is_named_by_us and _is_past_participle(function.words[0])


def is_bare_participle(name: str) -> bool:
    """Tell whether a name of a value is nothing but a past participle."""
    return _is_past_participle(name.strip("_"))


def _is_past_participle(word: str) -> bool:
    is_regular = "_" not in word and word.endswith("ed") and word not in ENDING_IN_ED
    return is_regular or word in IRREGULAR_PARTICIPLES.split()


def is_named_once(function: Function) -> bool:
    """Tell whether a function is private and its file names it once besides the definition."""
    is_private = function.name.startswith("_") and not function.name.startswith("__")
    return is_private and function.uses_in_file == 1


def find_not_imperative(folder: Path) -> frozenset[tuple[Path, int]]:
    """Return the places of the docstrings below a folder that ruff's D401 finds not imperative."""
    command = (sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--exit-zero")
    choice = ("--select", "D401", "--target-version", "py311", "--output-format", "json")
    found = subprocess.run([*command, *choice, str(folder)], capture_output=True, text=True, check=True)
    return frozenset((Path(each["filename"]), each["location"]["row"]) for each in json.loads(found.stdout))


def count_comment_lines(path: Path) -> int:
    """Return the number of lines that hold a comment and nothing else."""
    text = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and token.line.lstrip().startswith("#") for token in tokens)


class Names(NamedTuple):
    """The figures of a folder, and the functions that make each of them higher."""

    figures: Mapping[str, float]
    offenders: Mapping[str, Sequence[Function | Binding]]


def percent(part: float, whole: float) -> float:
    """Return a share in percent, 0 of nothing."""
    return 100 * part / whole if whole else 0.0


def measure_names(folder: Path) -> Names:
    """Measure the functions and comments of all files below a folder."""
    paths = sorted(folder.resolve().rglob("*.py"))
    functions = [function for path in paths for function in find_functions(path)]
    documented = [
        function
        for function in functions
        if function.has_docstring and not function.is_property and not function.name.startswith("test_")
    ]
    bindings = [binding for path in paths for binding in find_bindings(path)]
    offenders: dict[str, Sequence[Function | Binding]] = {
        ONE_WORD: [function for function in functions if is_one_word(function)],
        PARTICIPLES: [function for function in functions if is_participle(function)],
        NAMED_ONCE: [function for function in functions if is_named_once(function)],
        BINDINGS: [binding for binding in bindings if is_bare_participle(binding.name)],
        NOT_IMPERATIVE: find_owners(documented, find_not_imperative(folder.resolve())),
    }
    named = sum(function.is_named_by_us for function in functions)
    of = {
        ONE_WORD: named,
        PARTICIPLES: named,
        NAMED_ONCE: len(functions),
        BINDINGS: len(bindings),
        NOT_IMPERATIVE: len(documented),
    }
    figures = {name: percent(len(found), of[name]) for name, found in offenders.items()}
    figures[COMMENTS] = percent(sum(map(count_comment_lines, paths)), sum(map(count_code_lines, paths)))
    return Names(figures, offenders)


def find_owners(functions: Sequence[Function], lines: Iterable[tuple[Path, int]]) -> Sequence[Function]:
    """Return the functions that the lines are in: of each file the last that begins above."""
    by_path: dict[Path, list[Function]] = {}
    for function in functions:
        by_path.setdefault(function.path, []).append(function)
    return [
        max((each for each in by_path[path] if each.line < line), key=lambda each: each.line)
        for path, line in sorted(lines)
    ]


def render_place(function: Function | Binding, folder: Path) -> str:
    """Return file, line and name of a function or a variable."""
    return f"{function.path.relative_to(folder.resolve()).as_posix()}:{function.line} {function.name}"


def draw_names(folder: Path, number: int, seed: int) -> Sequence[str]:
    """Draw functions below a folder at random, the same ones for the same seed."""
    functions = [each for path in sorted(folder.resolve().rglob("*.py")) for each in find_functions(path)]
    places = [render_place(each, folder) for each in functions if each.is_named_by_us]
    return sorted(random.Random(seed).sample(places, min(number, len(places))))


def list_by_room(functions: Sequence[Function | Binding], folder: Path) -> Iterator[str]:
    """Yield the places of functions under a heading for each room, with the number of them."""

    def find_room(function: Function | Binding) -> str:
        return function.path.relative_to(folder.resolve()).parts[0]

    for room, found in groupby(sorted(functions, key=find_room), find_room):
        places = [render_place(function, folder) for function in found]
        yield f"{room}: {len(places)}"
        yield from (f"  {place}" for place in places)


def main() -> None:
    """Print the figures, or the functions behind one of them, or names drawn at random."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to measure")
    parser.add_argument("--tests", action="store_true", help="list or draw from tests/, not the package")
    parser.add_argument("--room", default="", help="folder below the package to list or draw from")
    of = {"words": ONE_WORD, "participles": PARTICIPLES, "once": NAMED_ONCE, "bindings": BINDINGS}
    of["imperative"] = NOT_IMPERATIVE
    parser.add_argument("--list", choices=of, help="list the functions that a figure counts, by room")
    parser.add_argument("--draw", nargs=2, type=int, metavar=("N", "SEED"), help="draw N names by SEED")
    options = parser.parse_args()
    folder: Path = options.root / ("tests" if options.tests else PACKAGE) / options.room
    if options.draw:
        print(*draw_names(folder, *options.draw), sep="\n")
    elif options.list:
        print(*list_by_room(measure_names(folder).offenders[of[options.list]], folder), sep="\n")
    else:
        columns = [measure_names(folder).figures, measure_names(options.root / "tests").figures]
        print(f"{'':<20}{'package':>8}{'tests':>8}")
        for name in LIMITS:
            print(f"{name:<20}" + "".join(f"{figures[name]:>8.1f}" for figures in columns))


if __name__ == "__main__":
    main()

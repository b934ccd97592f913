"""Measure the package's structure and render the table of rooms: ``python -m tests.house [--write]``.

A room is a folder (or a file) directly below ``pytest_fcbench``; an arrow leads from a room to one that it
imports; a floor is one more than the highest floor below it. ``ARCHITECTURE.md`` shows ``ROOMS`` as a table,
and ``tests/test_architecture.py`` holds both to the imports that the code has.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "pytest_fcbench"
PAGE = ROOT / "ARCHITECTURE.md"


@dataclass(frozen=True, slots=True)
class Room:
    """One room: its purpose in a sentence, and the rooms that it imports."""

    purpose: str
    imports: frozenset[str]


def _describe_room(purpose: str, *imports: str) -> Room:
    return Room(purpose, frozenset(imports))


ROOMS: Mapping[str, Room] = {
    "domain": _describe_room("what passes between rooms: entries, transcripts, verdicts, prices, errors"),
    "codecs": _describe_room(
        "functions to requests, answers to calls: presenting, decoders, rendering", "domain"
    ),
    "web": _describe_room(
        "the tool that searches the web: guarded HTTP client, search engines, pages, recordings", "domain"
    ),
    "mcp_servers": _describe_room(
        "MCP servers: started, asked for their tools, called, kept open", "domain", "codecs"
    ),
    "environments": _describe_room(
        "what stateful calls act on: API domains, memories, web search", "domain", "codecs"
    ),
    "execution": _describe_room(
        "what stateless calls run in: sandbox, functions, REST", "domain", "codecs", "web"
    ),
    "formats": _describe_room(
        "how files of entries are read: fields with their places, rows, function docs", "domain", "codecs"
    ),
    "judging": _describe_room(
        "what kinds share to judge: equal values, plain texts, known-bad entries, questions to judges",
        *("domain", "codecs"),
    ),
    "kinds": _describe_room(
        "kinds of entries, a folder each: how it is read, asked, judged, explained, answered, shown",
        *("domain", "codecs", "web", "mcp_servers", "environments", "execution", "formats", "judging"),
    ),
    "suites": _describe_room(
        "where entries come from: core, official packs, a team's own",
        *("domain", "codecs", "environments", "execution", "formats", "kinds"),
    ),
    "scorecard": _describe_room("Records to scores, intervals, gate, comparison, rank", "domain"),
    "present": _describe_room(
        "numbers to eyes: tables, terminal, pages, charts, annotations", "domain", "scorecard"
    ),
    "config": _describe_room(
        "options, layers, settings", "domain", "codecs", "formats", "suites", "scorecard"
    ),
    "models": _describe_room(
        "who answers: providers, baselines, judges, embeddings",
        *("domain", "codecs", "environments", "formats", "kinds", "scorecard", "config"),
    ),
    "dispatch": _describe_room(
        "many conversations at once, and the way of their requests: limits, budget, answer store, workers",
        *("domain", "models"),
    ),
    "server": _describe_room(
        "models that need no network, behind interfaces that clients know",
        *("domain", "codecs", "web", "environments", "judging", "kinds", "suites", "models"),
    ),
    "tools": _describe_room(
        "what grows or examines suites and models: authoring, audit, contamination, diagnosis, export",
        *("domain", "codecs", "mcp_servers", "environments", "execution", "formats", "judging", "kinds"),
        *("suites", "scorecard", "present", "models"),
    ),
    "run": _describe_room(
        "one benchmark run: its entries, its models, its Records",
        *("domain", "codecs", "web", "mcp_servers", "environments", "execution", "judging", "kinds"),
        *("suites", "scorecard", "present", "config", "models", "dispatch", "tools"),
    ),
    "cli": _describe_room(
        "the fcbench command",
        *("domain", "codecs", "mcp_servers", "environments", "judging", "kinds"),
        *("suites", "scorecard", "present", "config", "models", "dispatch", "server", "tools", "run"),
    ),
    "plugin": _describe_room(
        "pytest hooks and fixtures",
        *("domain", "suites", "scorecard", "present", "config", "dispatch", "run"),
    ),
}
"""Every room, from the ground up; a room imports only rooms above it in this table."""


IMPORTERS: Mapping[str, Set[str]] = {
    "pytest": {
        f"plugin/{name}.py"
        for name in (
            *(
                "__init__",
                "entry_arguments",
                "entry_files",
                "items",
                "registration",
                "project",
                "reporting",
                "stop_signals",
                "trial_marks",
            ),
            "xdist_workers",
        )
    },
    "aiohttp": {"server/app.py", "models/providers/http.py"},
    "airportsdata": {"judging/gazetteer.py"},
    "phonenumbers": {"judging/phones.py", "tools/importing/masks.py"},
    "botocore": {"models/providers/vendors.py"},
    "huggingface_hub": {"suites/packs/hub.py"},
    "litellm": {"models/providers/litellm.py"},
    "tree_sitter": {f"codecs/decoders/{name}.py" for name in ("syntax_trees", "java", "javascript")},
    "tree_sitter_java": {"codecs/decoders/syntax_trees.py"},
    "tree_sitter_javascript": {"codecs/decoders/syntax_trees.py"},
    "matplotlib": {"tools/export/png.py"},
    "pandas": {"scorecard/rows.py"},
    "pyarrow": {"tools/export/rows.py"},
    "inspect_ai": {"tools/export/inspect_log.py"},
    "mlflow": {"tools/export/trackers.py"},
    "wandb": {"tools/export/trackers.py"},
    "mpmath": {"environments/api/math.py"},
    "scipy": set(),
    "safetensors": {"models/sentence_vectors.py"},
    "tokenizers": {"models/sentence_vectors.py", "tools/parsers/examining.py"},
    "hypothesis": {"tools/parsers/shrinking.py"},
    "rapidfuzz": set(),
    "numpy": {
        "tools/audit/duplicates.py",
        "scorecard/aggregate/pressure.py",
        "models/sentence_vectors.py",
    },
    "jinja2": {"codecs/dialogues/written_prompt.py", "present/html/templates.py"},
    "pydantic": {
        "codecs/dialogues/api_dialogue.py",
        "codecs/decoders/native_syntaxes.py",
        "codecs/function_docs/python_code.py",
        *(f"formats/{name}.py" for name in ("function_docs", "questions", "rows")),
        *(f"kinds/{name}/entries.py" for name in ("golden_path", "server_check", "server_turns", "state")),
        "kinds/server_check/properties.py",
        "kinds/question_entries.py",
        *(f"kinds/answers/{name}.py" for name in ("entries", "web_pages")),
        *(f"domain/{name}.py" for name in ("json_values", "tables", "transcript_json", "verdict")),
        "judging/places.py",
        "suites/complexfuncbench.py",
        *(
            f"scorecard/aggregate/{name}.py"
            for name in ("format_sensitivity", "golden_paths", "intervals", "secondary_scores")
        ),
        *(f"scorecard/{name}.py" for name in ("record", "run_facts", "scorecard_files")),
        "present/document.py",
        "run/progress_file.py",
    },
    "docstring_parser": {"codecs/function_docs/python_code.py", "domain/json_values.py"},
    "sqlglot": {"kinds/sql/statements.py"},
    "bs4": {"web/page_content.py"},
    "html2text": {"web/page_content.py"},
    "markdownify": {"web/page_content.py"},
    "ddgs": {"web/searcher.py"},
    "bfcl_eval": set(),
    # The second only reads a reply with it.
    "requests": {"web/client.py", "web/page_content.py"},
    "resource": {"execution/sandbox/child.py"},
    "subprocess": {
        "cli/demo.py",
        "execution/sandbox/pool.py",
        "suites/packs/__init__.py",
        "web/page_content.py",
    },
    "urllib3": {"web/client.py"},
}
"""The files that may import a package, by package; an empty set for packages that nothing may import."""


def find_modules(root: Path = ROOT) -> Mapping[str, Path]:
    """Return the file of each module of the package by dotted name."""
    found = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def find_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Parse a file, once for all rules, and return what its code consists of."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def find_imported_names(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that a file imports, also inside functions."""
    for node in find_nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def find_room(dotted: str) -> str:
    """Return the room that a dotted name of the package belongs to; empty for the package itself."""
    return dotted.split(".")[1] if "." in dotted else ""


def build_import_graph(root: Path = ROOT) -> Mapping[str, frozenset[str]]:
    """Return the modules that each module imports."""
    files = find_modules(root)
    return {
        name: frozenset(
            target
            for dotted in find_imported_names(path)
            if (target := dotted if dotted in files else dotted.rpartition(".")[0]) in files
            and target != name
        )
        for name, path in files.items()
    }


def find_room_arrows(graph: Mapping[str, frozenset[str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second."""
    pairs = {(find_room(name), find_room(target)) for name, targets in graph.items() for target in targets}
    return frozenset((a, b) for a, b in pairs if a != b and not {a, b} & {"", "__main__"})


def find_circles(graph: Mapping[str, frozenset[str]]) -> Sequence[frozenset[str]]:
    """Return the sets of nodes that reach each other."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for target in graph.get(ahead.pop(), frozenset()) - seen:
                seen.add(target)
                ahead.append(target)
        reach[start] = seen
    circles = {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in graph
        if name in reach[name]
    }
    return sorted(circles, key=len, reverse=True)


def build_folder_graph(root: Path = ROOT) -> Mapping[str, frozenset[str]]:
    """Return the folders of its own room that each folder imports.

    A module beside folders stands for itself: it is a front or a base of them.
    """
    files = find_modules(root)
    parents = {path.parent.parent for path in files.values()}
    folders: dict[str, set[str]] = {}

    def find_folder(name: str) -> str:
        folder = files[name].parent
        return name if folder in parents else ".".join(folder.relative_to(root).parts)

    for name, targets in build_import_graph(root).items():
        folder = find_folder(name)
        same = {find_folder(target) for target in targets if find_room(target) == find_room(name)}
        folders.setdefault(folder, set()).update(same - {folder})
    return {folder: frozenset(targets) for folder, targets in folders.items()}


def count_floors(arrows: frozenset[tuple[str, str]]) -> int:
    """Return the number of floors: the longest way down through the rooms, counted in rooms."""
    below: dict[str, set[str]] = {}
    for upper, lower in arrows:
        below.setdefault(upper, set()).add(lower)
        below.setdefault(lower, set())
    floors: dict[str, int] = {}

    def find_floor(room: str, way: tuple[str, ...] = ()) -> int:
        if room in way:
            return 0
        if room not in floors:
            floors[room] = 1 + max((find_floor(each, (*way, room)) for each in below[room]), default=0)
        return floors[room]

    return max(map(find_floor, below), default=0)


def count_code_lines(path: Path) -> int:
    """Return the number of lines that hold code: neither blank, nor comment, nor docstring."""
    text = path.read_text(encoding="utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=last):
                docstrings.update(range(first, (last or first) + 1))
    passed_over = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in passed_over and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def count_generator_drivers(root: Path = ROOT) -> int:
    """Return the number of functions that drive a generator by hand: those that catch ``StopIteration``."""
    return sum(
        isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "StopIteration"
        for path in find_modules(root).values()
        for node in find_nodes(path)
    )


def find_dispatchers(root: Path = ROOT) -> Sequence[str]:
    """List the files outside ``kinds`` that ask of which class an expectation is, or compare a kind by name.

    Suites make entries, each of a kind that they know; they are no dispatchers.
    """
    trees = {
        path.relative_to(root / PACKAGE).as_posix(): find_nodes(path) for path in find_modules(root).values()
    }
    classes = {
        node.name
        for nodes in trees.values()
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Expectation" for base in node.bases)
    }

    def asks_for_kind(node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, asked]):
                return any(isinstance(each, ast.Name) and each.id in classes for each in ast.walk(asked))
            case ast.MatchClass(cls=ast.Name(id=name)):
                return name in classes
            case ast.Compare(left=ast.Attribute(attr="kind", value=ast.Name(id="entry") | ast.Attribute())):
                return True
        return False

    return [
        name
        for name, nodes in trees.items()
        if not name.startswith(("kinds/", "suites/")) and any(map(asks_for_kind, nodes))
    ]


def count_option_places(root: Path = ROOT) -> float:
    """Return how often the room ``config`` names an option: the mean over five plain ones.

    A name counts as field, keyword argument or string.
    """
    plain = ("rpm", "smoke", "seed", "search_record", "max_usd")
    files = [
        path for path in find_modules(root).values() if {"config", "options"} & {path.parent.name, path.stem}
    ]
    named = 0
    for node in (node for path in files for node in find_nodes(path)):
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name))
                | ast.keyword(arg=str(name))
                | ast.Constant(value=str(name))
            ):
                named += name in plain
    return named / len(plain)


def measure_house(root: Path = ROOT) -> Mapping[str, float]:
    """Return the figures of the structure by name."""
    graph = build_import_graph(root)
    arrows = find_room_arrows(graph)
    return {
        "rooms": len(set(map(find_room, graph)) - {"", "__main__"}),
        "arrows": len(arrows),
        "floors": count_floors(arrows),
        "files": len(graph),
        "files in circles": sum(map(len, find_circles(graph))),
        "folders in circles": sum(map(len, find_circles(build_folder_graph(root)))),
        "code lines": sum(map(count_code_lines, find_modules(root).values())),
        "generator drivers": count_generator_drivers(root),
        "dispatchers": len(find_dispatchers(root)),
        "places of an option": count_option_places(root),
    }


def render_rooms() -> str:
    """Return the table of rooms as Markdown, the top room first."""
    rows = [
        f"| `{name}/` | {room.purpose} | {', '.join(each for each in ROOMS if each in room.imports) or '-'} |"
        for name, room in reversed(list(ROOMS.items()))
    ]
    return "\n".join(["| room | holds | imports |", "|---|---|---|", *rows])


def render_importers() -> str:
    """Return the table of packages that only some files may import, as Markdown."""
    rows = [
        f"| {package} | {', '.join(f'`{name}`' for name in sorted(files)) or 'nothing'} |"
        for package, files in sorted(IMPORTERS.items())
    ]
    return "\n".join(["| package | imported by |", "|---|---|", *rows])


def replace_tables(page: str) -> str:
    """Return the page with its generated tables written anew."""
    for name, table in (("rooms", render_rooms()), ("importers", render_importers())):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return page


def main() -> None:
    """Print the figures; with ``--write`` also update the table in ARCHITECTURE.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the table in ARCHITECTURE.md")
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to measure")
    options = parser.parse_args()
    for name, value in measure_house(options.root).items():
        print(f"{name:<20}{value:>7,}")
    if options.write:
        PAGE.write_text(replace_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

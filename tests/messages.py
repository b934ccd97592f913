"""List every message that a user can meet: ``python -m tests.messages [--draw N SEED]``.

A message is a help text, or any other text of two or more words in the package that is not left out here:
docstrings, patterns, SQL and markup are no messages, and texts of the modules in ``FIXED`` must stay as they
are. ``tests/test_messages.py`` holds each message to the rules of ``find_faults``.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.cli.main import make_parser
from pytest_fcbench.config.options import OPTIONS
from tests.house import PACKAGE, ROOT

# Which texts are messages

FIXED: Mapping[str, str] = {
    "codecs/call_evaluation.py": "reasons of verdicts, which Records hold",
    "codecs/decoders": "reasons of verdicts, which Records hold",
    "codecs/presenting.py": "prompts of models",
    "codecs/python_syntax.py": "reasons of verdicts, which Records hold",
    "codecs/rendering.py": "calls as models write them",
    "kinds/answers/conversations.py": "prompts of models",
    "judging/questions.py": "prompts of judges",
    "kinds/kind.py": "prompts of models",
    "domain/function_doc.py": "results of functions, which models see",
    "domain/transcript.py": "placeholders in Records",
    "environments": "results of functions, which models see",
    "execution": "results of functions, which models see",
    "kinds/answers/verdict.py": "reasons of verdicts, which Records hold",
    "kinds/execution/rest_verdict.py": "reasons of verdicts, which Records hold",
    "kinds/execution/verdict.py": "reasons of verdicts, which Records hold",
    "kinds/golden_path/official.py": "reasons of verdicts, which Records hold",
    "kinds/sql/statements.py": "reasons of verdicts, which Records hold",
    "tools/authoring/question_writing.py": "prompts of the model that writes or words questions",
    "models/baselines/lexical.py": "answers of a baseline",
    "kinds/answers/kind.py": "answers of a baseline",
    "models/baselines/result_rows.py": "texts of official result files",
    "scorecard/aggregate/golden_paths.py": "words of parameters",
    "scorecard/aggregate/intervals.py": "names of methods, which scorecards hold",
    "present/html/templates.py": "a policy of browsers",
    "suites/bfcl/official_sources.py": "names of places in the sources of a package",
    "suites/core": "entries",
    "kinds/golden_path/listings.py": "contents of entries",
    "kinds/execution/entries.py": "function docs as models see them",
    "tools/authoring/generalization.py": "contents of entries",
    "tools/authoring/sampling.py": "contents of entries",
    "tools/authoring/combination.py": "words of languages",
    "tools/diagnosis/root_causes.py": "prompts of judges",
    "tools/export/official_tables.py": "columns of official tables",
    "web/addresses.py": "results of functions, which models see",
    "web/client.py": "results of functions, which models see",
    "web/page_content.py": "results of functions, which models see",
    "web/loopback_server.py": "results of functions, which models see",
}
"""Modules and folders whose texts must stay as they are, and why."""

SINKS = frozenset(
    [
        *("ArgumentTypeError", "AttributeError", "CallError", "FcbenchError", "NotScored", "NotScoredError"),
        *("PackError", "PackMissing", "RefusedRequestError", "RunStoppedError", "SuiteError", "TypeError"),
        *("UsageError", "ValueError", "_make_error", "make_rule_error", "refuse_model", "error", "fail"),
        *("skip", "warn", "print", "write_line", "report_line", "section", "option", "Finding", "Flaw"),
        *("SetupFinding", "RuleFinding"),
        *("Table", "describe_unknown_name"),
    ]
)
"""Callables that are given messages, for the rules about some of them."""

TABLES = ("cli/options.toml", "tools/audit/checks.toml")
"""Files with messages."""

HELP_KEYWORDS = frozenset(["help", "description", "epilog", "about", "note", "otherwise"])
"""Keyword arguments that are help texts, whatever they are given to."""

NOT_MESSAGES = frozenset(
    [
        *("compile", "match", "fullmatch", "search", "sub", "finditer", "split", "split_words", "startswith"),
        *("endswith", "removesuffix", "removeprefix", "strip", "execute", "executemany", "strftime"),
        *(
            "import_module",
            "Random",
            "JudgeQuestion",
            "SplitQuestion",
            "Page",
            "ServedPage",
            "Completion",
            "write_policy",
            "rcParams",
            "get",
        ),
        *("set_xlabel", "set_ylabel", "legend", "annotate", "Filler", "FunctionDoc", "frozenset", "within"),
        *("Interval", "Chance", "SentenceModel", "Draw"),
    ]
)
"""Callables whose arguments are no messages."""

WORDS = re.compile(r"(?<![\w<{-])[A-Za-z][A-Za-z']+,? +(?:\w+-)*[a-z]{2,}(?![\w}=])")
"""Two words in a row: the sign of a text that people read."""
NOT_PROSE = re.compile(r"<!?\w+[ >]|CREATE TABLE|INSERT OR|SELECT |DELETE FROM|PRAGMA |body\{|Mapping\[")
"""What a text in another language than English begins with."""
NOT_TOLD = frozenset(
    # Models see these when a search fails.
    [
        "serpapi.com: the reply is no object",
        "the reply of the search engine is no JSON",
        "nobody is there to be asked as {party}",
        "it cannot be read ({type(error).__name__})",
    ]
)
"""Single texts that must stay as they are in modules that also have messages."""


@dataclass(frozen=True, slots=True)
class Message:
    """A text that people read, with ``{expression}`` where a value stands."""

    path: Path
    line: int
    sink: str
    """What the text is given to; "" if it is found by its words alone."""
    text: str

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}: {self.text!r}"


def spell_text(node: ast.expr) -> str | None:
    """Return a literal text with its placeholders; None for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            parts.append("{" + ast.unparse(value.value) + "}")
        elif isinstance(value, ast.Constant):
            parts.append(str(value.value))
    return "".join(parts)


def name_callee(call: ast.Call) -> str:
    """Return the last part of the name of what is called, "" if it has none."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def find_sink(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> str | None:
    """Return the sink that a text is given to, "" without one, None where the text is no message."""
    child: ast.AST = node
    sink = ""
    while (parent := parents.get(child)) is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.keyword) and parent.arg in HELP_KEYWORDS:
            sink = sink or "help"
        elif isinstance(parent, ast.FormattedValue | ast.Subscript | ast.Compare):
            return None
        elif isinstance(parent, ast.Call):
            name = name_callee(parent)
            if name in NOT_MESSAGES or child is parent.func:
                return None
            sink = sink or (name if name in SINKS else "")
        child = parent
    if isinstance(parent, ast.Assign) and any(getattr(to, "id", "") == "HELP" for to in parent.targets):
        return "help"
    return None if isinstance(parent, ast.Assert | ast.Expr) and child is node else sink


def find_messages(path: Path, folder: Path) -> Iterator[Message]:
    """Yield the messages of a file, with its path below the folder."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant | ast.JoinedStr) or isinstance(parents[node], ast.JoinedStr):
            continue
        text = spell_text(node)
        if text is None or NOT_PROSE.match(text.strip()) or text in NOT_TOLD:
            continue
        sink = find_sink(node, parents)
        if sink is not None and (sink == "help" or WORDS.search(re.sub(r"\{.*?\}", "{}", text))):
            yield Message(path.relative_to(folder), node.lineno, sink, text)


DIALECT = re.compile(
    r"\b(is none|told|all the same|not to be had|as one would|anew|nobody|at the most|from 0 on|goes on|go on"
    r"|is there already|stands|(?<!there )(?:is|are) no (?!longer)\w+)\b"
)
"""Phrases for which there is a standard one."""
LONGEST = 260
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z_-]*[a-z])")
FOREIGN_OPTIONS = frozenset(
    [
        "enable-auto-tool-choice",
        "tool-call-parser",
        "max-model-len",
        "jinja",
        "chat_format",
        "n_ctx",
        "force-reinstall",
        "no-deps",
        "upgrade",
        "collect-only",
        "lf",
        "deselect",
        "dist",
    ]
)
"""Options of pip, pytest and servers of models."""
COMMAND = re.compile(r"(?:'|run: |run '|with: |next: )fcbench ((?:run |suite )?[a-z][a-z-]*)")


REFUSALS = frozenset(
    [
        *("UsageError", "ArgumentTypeError", "_make_error", "refuse_model"),
        *("SuiteError", "PackError", "PackMissing"),
    ]
)
"""Callables that are given the refusal of a value or a file that a user chose."""
VERBS = (
    "accept add ask bundle check choose compare continue copy correct define diagnose download draw give "
    "install leave make merge name pull put quote raise remove rename repair replace replay run set unset "
    "use write"
)
WAY_OUT = re.compile(
    rf"(?:^|[;:,.}}] )(?:so |or |and )?(?i:{'|'.join(VERBS.split())})\b"
    r"|(?<![\w-])--[a-z]|'fcbench |pip install|\bmust\b|\bneeds?\b|\be\.g\.|\bfor example\b|\bvalid too"
    r"|\bexpected [A-Z]|\{(?:hint|rule|how|at_hand|_WAY_OUT)\}"
)
"""An imperative, an option, a command, or the rule that a value must keep."""


def has_way_out(text: str) -> bool:
    """Tell whether a refusal says what to do or what is allowed."""
    return WAY_OUT.search(re.sub(r"\{(?!(?:hint|rule|how|at_hand|_WAY_OUT)\}).*?\}", "{}", text)) is not None


def find_option_names() -> frozenset[str]:
    """Return the names of all options of a run and of the commands."""
    names = {option.flag.removeprefix("--") for option in OPTIONS}
    parsers = [make_parser()]
    for parser in parsers:
        for action in parser._actions:
            names.update(flag.removeprefix("--") for flag in action.option_strings)
            if isinstance(action, argparse._SubParsersAction):
                parsers.extend(action.choices.values())
    return frozenset(names)


def find_faults(text: str, options: Collection[str], commands: Collection[str]) -> Iterator[str]:
    """Yield the rules that a message breaks."""
    prose = re.sub(r"\{.*?\}", "{}", text)
    if found := DIALECT.search(prose):
        yield f"private phrase {found[0]!r}"
    if re.search(r"\S [^\S\n]+\S", prose) and not text.startswith(" ") and "\n" not in text:
        yield "two blanks in a row"
    if prose.rstrip().endswith(":"):
        yield "ends with a colon"
    if len(prose) > LONGEST:
        yield f"longer than {LONGEST} characters"
    for name in OPTION.findall(prose):
        if name not in options and name not in FOREIGN_OPTIONS:
            yield f"there is no option --{name}"
    for name in COMMAND.findall(prose):
        if name not in commands:
            yield f"there is no command 'fcbench {name}'"


def is_fixed(path: Path) -> bool:
    """Tell whether the texts of a module must stay as they are."""
    return any(path.as_posix() == place or path.is_relative_to(place) for place in FIXED)


def find_help_texts(path: Path, folder: Path) -> Iterator[Message]:
    """Yield the texts of a table of options or checks, with the path of its file below the folder."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    for rows in tables.values():
        for row in rows.values():
            texts = [row.get(key) for key in ("help", "says", "advice")] if isinstance(row, dict) else [row]
            for text in texts:
                if isinstance(text, str):
                    yield Message(path.relative_to(folder), 1, "help", text)


def collect_messages(folder: Path) -> Sequence[Message]:
    """Return all messages of the modules below a folder, by file and line."""
    paths = sorted(folder.rglob("*.py"))
    found = [
        each
        for path in paths
        if not is_fixed(path.relative_to(folder))
        for each in find_messages(path, folder)
    ]
    tables = (path for name in TABLES for path in folder.glob(name))
    found += (each for path in tables for each in find_help_texts(path, folder))
    return sorted(found, key=lambda each: (each.path, each.line, each.text))


def draw_messages(messages: Sequence[Message], number: int, seed: int) -> Sequence[Message]:
    """Draw messages at random, the same ones for the same seed."""
    chosen = random.Random(seed).sample(range(len(messages)), min(number, len(messages)))
    return [messages[place] for place in sorted(chosen)]


def main() -> None:
    """Print all messages, or some drawn at random."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to read")
    parser.add_argument("--draw", nargs=2, type=int, metavar=("N", "SEED"), help="draw N messages by SEED")
    options = parser.parse_args()
    messages = collect_messages(options.root / PACKAGE)
    print(*(draw_messages(messages, *options.draw) if options.draw else messages), sep="\n")


if __name__ == "__main__":
    main()

"""The options of a run, declared once for command line and file. Data only: pytest loads it in every run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One option, as it is declared once for command line and file."""

    key: str
    metavar: str
    help: str
    repeatable: bool = False
    of_model: bool = False
    """Whether a model profile may hold it."""
    switch: bool = False
    """Whether it is on or off instead of taking a value."""

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--fcbench-{self.key.replace('_', '-')}"

    @property
    def dest(self) -> str:
        """Its attribute in pytest's option namespace."""
        return f"fcbench_{self.key}"


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options about one thing, as --help shows them."""

    title: str
    options: tuple[Option, ...]


GROUPS = (
    OptionGroup(
        "who answers",
        (
            Option(
                "model",
                "MODEL",
                "oracle, lexical, scripted:FILE, replay:PATH, python:MODULE:NAME, a profile, any litellm id "
                "(default: lexical)",
                of_model=True,
            ),
            Option("api_base", "URL", "endpoint of the model", of_model=True),
            Option(
                "api_key_env", "NAME", "environment variable that holds the endpoint's key", of_model=True
            ),
            Option(
                "mode",
                "MODE",
                "fc (function calling) or prompt (default: what fits the model)",
                of_model=True,
            ),
            Option(
                "names",
                "STYLE",
                "how dotted function names are shown: dotted or underscored (default: by mode)",
                of_model=True,
            ),
            Option(
                "syntax",
                "SYNTAX",
                "how calls are written: tool_calls, python, hermes, xlam, glm (default: by mode or replay)",
                of_model=True,
            ),
            Option("temperature", "T", "sampling temperature (default: 0.001, as officially)", of_model=True),
            Option("max_tokens", "N", "limit of tokens in an answer (default: none)", of_model=True),
            Option("seed", "N", "seed sent to the model (default: none)", of_model=True),
            Option(
                "param",
                "NAME=JSON",
                "any other litellm parameter (repeatable)",
                repeatable=True,
                of_model=True,
            ),
            Option("tag", "", "name the entry in a header of each request (for logs)", switch=True),
        ),
    ),
    OptionGroup(
        "what is asked",
        (
            Option(
                "suite",
                "NAME",
                "core, bfcl, complexfuncbench or one of your own (repeatable; default: core)",
                repeatable=True,
            ),
            Option(
                "category",
                "NAME",
                "category or group to run, exactly (repeatable; default: all)",
                repeatable=True,
            ),
            Option("smoke", "", "run every tenth entry of each category only", switch=True),
            Option(
                "shard",
                "K/N",
                "run the Kth of N parts, the same on every machine; fcbench merge joins the scorecards",
            ),
            Option("trials", "N", "how often each entry is put to the model (default: 1)"),
            Option("plan", "", "ask nothing: print entries, calls, tokens and cost of the run", switch=True),
        ),
    ),
    OptionGroup(
        "how it is judged",
        (
            Option("profile", "PROFILE", "official or corrected decides (default: official; both are shown)"),
            Option(
                "gate",
                "RULE",
                "decides the exit code: 'overall>=0.2', 'not-worse(95%%)', 'latency.p95<=3s' (repeatable)",
                repeatable=True,
            ),
            Option("baseline", "FILE", "scorecard or saved baseline that gate rules compare with"),
            Option(
                "judge",
                "MODEL",
                "judges what rules cannot: a profile of fcbench.yaml or any litellm id (default: none)",
            ),
            Option("judge_api_base", "URL", "endpoint of the judge"),
            Option("judge_api_key_env", "NAME", "environment variable that holds the judge's key"),
            Option(
                "similarity",
                "NAME",
                "pairs calls along golden paths: structured, rapidfuzz or an embedding model "
                "(default: structured)",
            ),
            Option("similarity_api_base", "URL", "endpoint of the embedding model"),
            Option(
                "similarity_api_key_env", "NAME", "environment variable that holds the key of that endpoint"
            ),
        ),
    ),
    OptionGroup(
        "what calls reach",
        (
            Option("responses", "WHERE", "replies of web APIs: recorded or live (default: recorded)"),
            Option(
                "search",
                "WHO",
                "answers searches of the web: duckduckgo, serpapi, recorded:FILE or core (default: core)",
            ),
            Option(
                "search_record", "FILE", "add searches, pages and what came back to a file for recorded:FILE"
            ),
            Option(
                "embedding",
                "NAME",
                "finds texts in memory_vector: lexical, minilm or its folder (default: lexical)",
            ),
        ),
    ),
    OptionGroup(
        "pace and cost",
        (
            Option(
                "concurrency",
                "N",
                "conversations at once, in all processes together (default: 8)",
                of_model=True,
            ),
            Option("rpm", "N", "calls a minute at the most (default: no limit)", of_model=True),
            Option("tpm", "N", "tokens a minute at the most (default: no limit)", of_model=True),
            Option(
                "retries", "N", "how often a call is repeated that may work then (default: 8)", of_model=True
            ),
            Option("timeout", "SECONDS", "longest wait for one answer (default: 600)", of_model=True),
            Option("entry_timeout", "SECONDS", "longest time for one entry (default: 3600)", of_model=True),
            Option("max_usd", "DOLLARS", "stop asking before this run has cost more (default: no limit)"),
            Option("no_preflight", "", "do not wait for the first call before making others", switch=True),
        ),
    ),
    OptionGroup(
        "what is kept and shown",
        (
            Option("store", "FILE", "where answers are kept, or none (default: .fcbench/answers.sqlite)"),
            Option("offline", "", "ask nothing: judge stored answers, the rest is not scored", switch=True),
            Option("refresh", "", "ask everything again, though answers are stored", switch=True),
            Option("scorecard", "FILE", "where the JSON report goes, or none (default: scorecard.json)"),
            Option("failures", "N", "how many failed entries the terminal lists (default: 60)"),
            Option("config", "FILE", "configuration file (default: fcbench.yaml in the root directory)"),
        ),
    ),
)
"""All options; each is also a key of fcbench.yaml."""

OPTIONS = tuple(option for group in GROUPS for option in group.options)

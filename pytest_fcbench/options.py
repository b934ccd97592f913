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


OPTIONS = (
    Option(
        "model",
        "MODEL",
        "who answers: oracle, lexical, scripted:FILE, replay:PATH, python:MODULE:FUNCTION, a model profile "
        "of fcbench.yaml, or any litellm id (default: lexical)",
        of_model=True,
    ),
    Option(
        "suite",
        "NAME",
        "suite to run: core, bfcl, complexfuncbench (repeatable; default: core)",
        repeatable=True,
    ),
    Option(
        "category", "NAME", "category or group to run, exactly (repeatable; default: all)", repeatable=True
    ),
    Option(
        "mode",
        "MODE",
        "fc (function calling) or prompt (default: what fits the model, else fc)",
        of_model=True,
    ),
    Option(
        "names",
        "STYLE",
        "how dotted function names are shown: dotted or underscored "
        "(default: underscored in fc, dotted in prompt)",
        of_model=True,
    ),
    Option(
        "syntax",
        "SYNTAX",
        "how calls are written in answers: tool_calls, python, hermes, xlam, glm "
        "(default: by mode, or seen in a replay)",
        of_model=True,
    ),
    Option(
        "profile",
        "PROFILE",
        "verdicts that decide: official or corrected (default: official; both are shown)",
    ),
    Option(
        "gate",
        "RULE",
        "rule that decides the exit code, such as 'overall>=0.2', 'not-worse(95%%)' or 'latency.p95<=3s' "
        "(repeatable)",
        repeatable=True,
    ),
    Option(
        "baseline",
        "FILE",
        "scorecard, or what 'fcbench baseline save' made of one, that gate rules compare with",
    ),
    Option("api_base", "URL", "endpoint of the model", of_model=True),
    Option("api_key_env", "NAME", "environment variable that holds the endpoint's key", of_model=True),
    Option("temperature", "T", "sampling temperature (default: 0.001, as officially)", of_model=True),
    Option("max_tokens", "N", "limit of tokens in an answer (default: none)", of_model=True),
    Option("seed", "N", "seed sent to the model (default: none)", of_model=True),
    Option("param", "NAME=JSON", "any other litellm parameter (repeatable)", repeatable=True, of_model=True),
    Option(
        "judge",
        "MODEL",
        "who judges what rules cannot (calls along a golden path, replies in words, fcbench diagnose): a "
        "model profile of fcbench.yaml or any litellm id (default: none; along a golden path rules of ours)",
    ),
    Option("judge_api_base", "URL", "endpoint of the judge"),
    Option("judge_api_key_env", "NAME", "environment variable that holds the key of the judge's endpoint"),
    Option(
        "similarity",
        "NAME",
        "what pairs calls with those of a golden path: structured, rapidfuzz or a litellm embedding model "
        "(default: structured)",
    ),
    Option("similarity_api_base", "URL", "endpoint of the embedding model"),
    Option("similarity_api_key_env", "NAME", "environment variable that holds the key of that endpoint"),
    Option(
        "responses",
        "WHERE",
        "where replies of web APIs come from, off a golden path and for executable entries: recorded, or "
        "live (default: recorded)",
    ),
    Option(
        "embedding",
        "NAME",
        "what finds texts in the category memory_vector: lexical (words and parts of words), minilm (the "
        "official model, with the extra 'vector') or the folder of such a model (default: lexical)",
    ),
    Option(
        "search",
        "WHO",
        "who answers searches of the web: duckduckgo, serpapi, recorded:FILE, or core, which knows only the "
        "pages that the suite core brings with it (default: core)",
    ),
    Option(
        "search_record", "FILE", "add every search, every page and what came back to a file for recorded:FILE"
    ),
    Option("smoke", "", "run every tenth entry of each category only", switch=True),
    Option("trials", "N", "how often each entry is put to the model (default: 1)"),
    Option(
        "concurrency", "N", "conversations at once, in all processes together (default: 8)", of_model=True
    ),
    Option("rpm", "N", "calls a minute at the most (default: no limit)", of_model=True),
    Option("tpm", "N", "tokens a minute at the most (default: no limit)", of_model=True),
    Option(
        "retries",
        "N",
        "how often a call is tried again that may work the next time (default: 8)",
        of_model=True,
    ),
    Option("timeout", "SECONDS", "longest wait for one answer (default: 600)", of_model=True),
    Option("entry_timeout", "SECONDS", "longest time for one entry (default: 3600)", of_model=True),
    Option("max_usd", "DOLLARS", "stop asking before this run has cost more (default: no limit)"),
    Option("plan", "", "ask nothing: print entries, calls, tokens and cost of the run", switch=True),
    Option("no_preflight", "", "do not wait for the first call before making others", switch=True),
    Option("tag", "", "name the entry in a header of each request (for fcbench serve and logs)", switch=True),
    Option("store", "FILE", "where answers are kept, 'none' keeps none (default: .fcbench/answers.sqlite)"),
    Option("offline", "", "ask nothing: judge stored answers, the rest is not scored", switch=True),
    Option("refresh", "", "ask everything again, though answers are stored", switch=True),
    Option(
        "scorecard", "FILE", "where the JSON report goes; 'none' writes no file (default: scorecard.json)"
    ),
    Option("failures", "N", "how many failed entries the terminal lists (default: 60)"),
    Option("config", "FILE", "configuration file (default: fcbench.yaml in the root directory, if there)"),
)

"""What to do about a failed call."""

from __future__ import annotations

import re

from pytest_fcbench.config.layers import BY_KEY
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.models import registry
from pytest_fcbench.scorecard.aggregate.unusable_answers import TOOL_SWITCHES

WITHOUT_PREFLIGHT = "to continue anyway; those that fail will not be scored"

_ABOUT_TOOL_CALLS = re.compile(r"tool[ _-](choice|call)", re.IGNORECASE)


def find_hint(error: NotScoredError, settings: Settings) -> str:
    """Return what to do about a failed call under these settings."""
    flags, is_judge = settings.flags, settings.flags.model == BY_KEY["judge"].flag
    # A judge is always asked in words.
    tools = "" if is_judge else ", and whether it accepts tools (--fcbench-mode=prompt sends none)"
    # vLLM without a tool parser refuses the tools instead of leaving them out.
    if error.cause == "bad_request" and not is_judge and _ABOUT_TOOL_CALLS.search(error.reason):
        return f"let the server read tool calls ({TOOL_SWITCHES}), or use --fcbench-mode=prompt"
    if error.cause == "authentication" and (key_source := registry.describe_key_source(settings)):
        source = "" if key_source in error.reason else f"{key_source}; "
        return f"{source}put a valid key there, or name the variable that holds one with {flags.api_key_env}"
    hints = {
        "authentication": f"name the variable that holds a valid API key with {flags.api_key_env}",
        "bad_request": f"check the model's name{tools}",
        "connection": f"check {flags.api_base}, and whether the server is running",
        "function_error": "fix the function",
        "function_result": "let the function return text, a message or a list of tool calls",
        "not_found": f"check the model's name and {flags.api_base}",
        "redirect": f"use the address that the endpoint names with {flags.api_base}, if it is yours",
        "quota": "add credit to the account, or use another API key",
        "rate_limit": "ask for less at once (--fcbench-concurrency, --fcbench-tpm), or try again later",
        "request_too_large": "raise the limit of the proxy before the server",
        "web_page": f"check {flags.api_base}; most such addresses end in /v1",
        "max_tokens": "give such a value with max_tokens in the judge's profile"
        if is_judge
        else "give such a value with --fcbench-max-tokens",
        "budget": "raise --fcbench-max-usd",
    }
    return hints.get(error.cause, "try again later")

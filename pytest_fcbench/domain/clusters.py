"""Clusters: entries that share what they are about, and so pass and fail together.

A cluster reaches over categories. Its name follows from the id of an entry where the id says what is shared:

* the scenario of multi-turn entries: officially ``multi_turn_base_7``, ``multi_turn_miss_func_7``
  and so on are one; elsewhere an entry and those that code makes of it
* the earlier conversations of memory questions, over all kinds of memory
* the question of a web search, with snippets and without
* the question that official live entries came from, the second number in ``live_multiple_862-181-3``
* the entry that another puts in a prompt format of its own

Elsewhere the entry names its cluster, or is one by itself.
"""

from __future__ import annotations

import re

from pytest_fcbench.domain.prompt_format import parse_format_id

_OFFICIAL = "bfcl"
_MULTI_TURN = re.compile(r"multi_turn_(base|miss_func|miss_param|long_context|composite)_(\d+)")
_MEMORY = re.compile(r"memory_(?:kv|vector|rec_sum)_(?:\d+-)?(.+?)[-_]\d+")
_WEB_SEARCH = re.compile(r"web_search_(?:base|no_snippet)_(\d+)")
_LIVE = re.compile(r"(live_[a-z_]+)_\d+-(\d+)-\d+")


def name_cluster(suite: str, entry_id: str, entry_cluster: str | None = None) -> str:
    """Name the cluster of an entry within its suite; ``entry_cluster`` is the one that the entry names.

    An entry that shares nothing has its own id for a cluster.
    """
    # A cluster is often named after an entry, which may share a scenario itself.
    subject = entry_cluster or entry_id
    if parts := parse_format_id(subject):
        subject = parts[1]
    if match := _MULTI_TURN.fullmatch(subject):
        # Of our own entries only those made by code share a scenario; officially every number is one.
        is_derived = suite != _OFFICIAL and match[1] in ("miss_param", "composite")
        return f"multi_turn_{'miss_param' if is_derived else 'base'}_{match[2]}"
    if match := _MEMORY.fullmatch(subject):
        return f"memory_{match[1]}"
    if match := _WEB_SEARCH.fullmatch(subject):
        return f"web_search_{match[1]}"
    if match := _LIVE.fullmatch(subject):
        return f"{match[1]}_{match[2]}"
    return subject

"""ComplexFuncBench (Zhong et al. 2025, arXiv:2501.10132), from its pack: one file of JSON lines.

    {"id": "Car-Rental-9",                       # domain and number; ten numbers share a template
     "conversations": [
       {"role": "user", "content": "..."},       # once
       {"role": "assistant", "function_call": [{"name": "...", "arguments": {...}}, ...]},
       {"role": "observation", "content": [reply, ...]},      # one for each call; such pairs are the steps
       {"role": "assistant", "content": ""}],    # last; nobody wrote reference answers, so it is not read
     "functions": [{"name": "...", "description": "...", "parameters": {JSON schema of an object}}, ...]}

All keys above must be of this form; others are ignored. In some official records a golden call violates the
schema of its function: such an entry is set aside.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.categories import CATEGORIES, Category
from pytest_fcbench.domain.conformance import describe_misfit
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.errors import SuiteError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.garbage_collection import pause_collector
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.recorded_call import RecordedCall
from pytest_fcbench.environments.world import World
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, Lookup
from pytest_fcbench.kinds.golden_path.wording import PathWording
from pytest_fcbench.suites import complexfuncbench_texts, core
from pytest_fcbench.suites.packs import open_pack
from pytest_fcbench.suites.packs.hub import HubSource
from pytest_fcbench.suites.suite import Suite

NAME = complexfuncbench_texts.NAME
FILE = "ComplexFuncBench.jsonl"

DOMAINS: Mapping[str, Category] = {
    domain: CATEGORIES[domain.lower().replace("-", "_")]
    for domain in ("Hotels", "Flights", "Car-Rental", "Attraction", "Cross")
}
"""The category of each domain; an id begins with its domain."""

# Officially a call equal to one of their golden calls is accepted at any time, even ahead of its step.
LOOKUPS = (
    Lookup("Location_to_Lat_Long", forgiven=False),
    Lookup("Search_Hotel_Destination"),
    Lookup("Search_Attraction_Location"),
    Lookup("Search_Car_Location"),
    Lookup("Search_Flight_Location"),
    Lookup("Taxi_Search_Location"),
    Lookup("Search_Hotels", {"search_type": "hotel"}),
)
"""The official *free functions*."""

JUDGED = frozenset(
    (
        "query",
        "radius",
        "room_qty",
        "adults",
        "children",
        "children_age",
        "price_min",
        "price_max",
        "legs",
        "cabinClass",
        "sortBy",
        "min_date",
        "max_date",
    )
)
"""Parameters missing from the official list of exact matches (``exact_match_values.json``), in which the 40
functions that occur in entries agree about each of them."""

OVERLOOKED = frozenset(("pick_up_latitude",))
"""Missing from that list too, unlike the other coordinates: a slip, kept in the official profile only."""


def open_suite(cache: Path) -> Suite:
    """Open the suite. Raises ``PackMissing`` where its pack is not in the cache."""
    pack = open_pack(SOURCE, cache)

    def load(category: Category) -> tuple[Entry, ...]:
        # The collector would take half the time to find nothing in a million values.
        with pause_collector():
            wording = complexfuncbench_texts.read_wording(cache)
            return tuple(read_golden_paths(pack.read(FILE), pack.folder / FILE, category, wording))

    return Suite(
        name=NAME,
        version=pack.version,
        pack_sha256=pack.content_sha256,
        categories=tuple(DOMAINS.values()),
        wording=core.read_wording(),
        world=World(),
        load=load,
    )


_ID = re.compile(r"(?P<domain>.{1,40})-(?P<number>0|[1-9][0-9]{0,5})")
_BEGINNING = re.compile(rb'\s*\{\s*"id"\s*:\s*"(?P<id>(?P<domain>[A-Za-z-]+)-[0-9]+)"')
# Entries that are paraphrases of each other.
_TEMPLATE = 10


def read_golden_paths(
    content: bytes, path: Path, category: Category | None = None, wording: PathWording | None = None
) -> Iterator[Entry]:
    """Yield the entries of a file, or those of a category, in its order. Raises ``SuiteError``.

    ``path`` is the file's name in errors; ``wording`` has the texts of the official code. A line that
    begins with the id of another category is not parsed.
    """
    known_docs: list[tuple[object, FunctionDoc]] = []
    entry_ids: set[str] = set()
    for number, line in enumerate(io.BytesIO(content), 1):
        begins = _BEGINNING.match(line)
        if begins and category not in (None, DOMAINS.get(begins["domain"].decode(), category)):
            continue
        if not line.strip():
            continue
        try:
            value: object = read_json_text(line)
        except (ValueError, RecursionError) as error:
            raise SuiteError(f"{path}:{number}: not JSON: {error}") from None
        # The beginning of the line only saves parsing entries of other categories.
        entry = _make_entry(Field(value, path, line=number), known_docs, wording)
        if entry.id in entry_ids or (begins and begins["id"].decode() != entry.id):
            raise SuiteError(f"{path}:{number}: {entry.id}: the id is used twice; remove one of them")
        entry_ids.add(entry.id)
        if category in (None, entry.category):
            yield entry
    if not entry_ids and category is None:
        raise SuiteError(f"{path}: contains no entries; give the file of the dataset")


def _make_entry(
    record: Field, known_docs: list[tuple[object, FunctionDoc]], wording: PathWording | None
) -> Entry:
    entry_id = record.member("id").text()
    match = _ID.fullmatch(entry_id)
    if not match:
        raise record.member("id").error(
            f"must be a domain and a number, e.g. Hotels-12, not {entry_id!r:.40}"
        )
    if match["domain"] not in DOMAINS:
        raise record.member("id").error(describe_unknown_name("domain", match["domain"], DOMAINS))
    record = replace(record, keys=(entry_id,))
    docs = tuple(_read_doc(field, known_docs) for field in record.member("functions").elements())
    # Calls name their function, so two of one name could not be told apart.
    if len({doc.name for doc in docs}) < len(docs):
        raise record.member("functions").error("a function is listed twice")
    conversation = record.member("conversations")
    turns = list(conversation.elements())
    if len(turns) < 4 or len(turns) % 2:
        raise conversation.error("must have a question, pairs of calls and observations, and a final message")
    question = _read_turn(turns[0], "user", "content").text()
    # Read for its errors only: the last message is empty.
    _read_turn(turns[-1], "assistant", "content")
    steps = tuple(map(_read_step, turns[1:-1:2], turns[2:-1:2]))
    by_name = {doc.name: doc for doc in docs}
    flaws = (describe_misfit(call.name, call.arguments, by_name) for step in steps for call in step)
    return Entry(
        suite=NAME,
        id=entry_id,
        category=DOMAINS[match["domain"]],
        turns=((Message("user", question),),),
        functions=docs,
        expectation=GoldenPath(steps, LOOKUPS, JUDGED, OVERLOOKED, by_runner=True, wording=wording),
        set_aside=next((f"a golden call has a wrong form: {flaw}" for flaw in flaws if flaw), None),
        # All blocks of ten ids begin with calls of the same functions: they paraphrase one template.
        cluster=f"{match['domain']}-{int(match['number']) // _TEMPLATE}",
    )


def _read_doc(field: Field, known_docs: list[tuple[object, FunctionDoc]]) -> FunctionDoc:
    # Entries repeat the docs of few functions; each is read once.
    if earlier_doc := next((doc for value, doc in known_docs if value == field.value), None):
        return earlier_doc
    name, description = (field.member(key).text() for key in ("name", "description"))
    parameters = field.member("parameters")
    kind = parameters.member("type")
    if kind.text() != "object":
        raise kind.error(f"must be 'object', is {kind.value!r}")
    for parameter in parameters.member("properties").members().values():
        parameter.members()
    for required_name in parameters.member("required").elements():
        required_name.text()
    schema = {key: member.value for key, member in parameters.members().items()}
    own = ("name", "description", "parameters")
    extra = {key: member.value for key, member in field.members().items() if key not in own}
    doc = FunctionDoc(name, description, schema, extra)
    known_docs.append((field.value, doc))
    return doc


def _read_turn(field: Field, role: str, key: str) -> Field:
    """Return the member of a turn that belongs to its role."""
    role_field = field.member("role")
    if role_field.value != role:
        raise role_field.error(f"must be {role!r}, is {role_field.value!r:.40}")
    return field.member(key)


def _read_step(calling: Field, observing: Field) -> tuple[RecordedCall, ...]:
    calls_field = _read_turn(calling, "assistant", "function_call")
    replies_field = _read_turn(observing, "observation", "content")
    calls, replies = list(calls_field.elements()), list(replies_field.elements())
    if not calls:
        raise calls_field.error("needs a call")
    if len(calls) != len(replies):
        raise replies_field.error(f"must have a reply to each of {len(calls)} calls, has {len(replies)}")
    recorded_calls = []
    for call, reply in zip(calls, replies, strict=True):
        arguments = {key: value.value for key, value in call.member("arguments").members().items()}
        try:
            recorded_calls.append(RecordedCall.with_reply(call.member("name").text(), arguments, reply.value))
        except RecursionError:
            raise reply.error("is nested too deep") from None
    return tuple(recorded_calls)


SOURCE = HubSource(
    name=NAME,
    repo="zai-org/ComplexFuncBench",
    file=FILE,
    check=lambda content: deque(read_golden_paths(content, Path(FILE)), maxlen=0),
)

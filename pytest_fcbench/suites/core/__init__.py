"""The embedded suite: entries of our own for every category, so that a fresh machine can run.

To read and check all files takes a second, to load entries that are kept beside the bytecode a quarter of it.
As with bytecode, they are only used while no file of the package has changed. Whoever can write there can
change the program itself, so unpickling them adds no risk.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest_fcbench
from pytest_fcbench.codecs.presenting import Notes, Prompts, Sentences, Wording
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.environments.world import Filler, Table, World, world_from_json
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.state.derived_entries import MADE_OF, derive_multi_turn, join_clusters, vary_format
from pytest_fcbench.suites.suite import Suite, hash_files

NAME = "core"
VERSION = "12"

_FOLDER = Path(__file__).parent

GROWN = _FOLDER / "grown"
"""Entries made from those beside it, a file for each category, by ``fcbench suite augment`` and
``fcbench suite sample``; read and mended by hand since."""

HARD = _FOLDER / "hard"
"""Entries written by hand, with many functions of one domain."""

WIDE = _FOLDER / "wide"
"""Entries written by hand, each domain with a set of functions that many questions share: JSON, which is
read faster, with an entry in a line."""


def open_suite(cache: Path) -> Suite:
    """Open the suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=hash_files(sorted([*_FOLDER.rglob("*.yaml"), *_FOLDER.rglob("*.json")]), _FOLDER),
        categories=tuple(c for c in CATEGORIES.values() if _find_files(c)),
        wording=read_wording(),
        world=make_world(),
        load=_load,
        web=_FOLDER / "web",
    )


def _find_files(category: Category) -> Sequence[Path]:
    """Return the files of a category, those made by code last.

    A file about memories or the web serves all categories of its kind.
    """
    if category.name in MADE_OF:
        return _find_files(CATEGORIES[MADE_OF[category.name]])
    if category.name in SELECTIONS["memory"]:
        return sorted(_FOLDER.glob("memory_*.yaml"))
    # Both categories of the web ask the same questions; only the results of searches differ.
    name = "web_search" if category.name in SELECTIONS["web_search"] else category.name
    paths = [folder / f"{name}.yaml" for folder in (_FOLDER, GROWN, HARD)]
    return [path for path in (*paths, WIDE / f"{name}.json") if path.exists()]


@cache  # the files of the package do not change, and a process may hold several runs
def _load(category: Category) -> tuple[Entry, ...]:
    return load_or_read(category, _FOLDER, lambda: read_entries(category))


def read_entries(category: Category) -> tuple[Entry, ...]:
    """Read the entries of a category from the suite's files."""
    # Features are found by reading all entries, so they are stored and not computed at each start.
    features = read_features()
    return tuple(
        # Entries in other prompt formats have those of the entries that they repeat.
        replace(entry, features=features.get(entry.id, entry.features))
        for entry in _load_plain(category)
    )


@cache  # those that can be made harder are needed for two other categories
def _load_plain(category: Category) -> tuple[Entry, ...]:
    """Load the entries of a category without their features."""
    paths = tuple(_find_files(category))
    if category.varies_others:
        repeated_entries: list[Entry] = []
        for name, ids in _read_file(paths[0]).members().items():
            entries = {entry.id: entry for entry in _load(CATEGORIES[name])}
            repeated_entries += [entries[each.text()] for each in ids.elements()]
        return tuple(vary_format(repeated_entries, category))
    if category.name in MADE_OF:
        return tuple(derive_multi_turn(category.name, _load_plain(CATEGORIES[MADE_OF[category.name]])))
    files, world = map(_read_file, paths), make_world()
    return join_clusters(
        [entry for file in files for entry in entry_files.make_entries(file, NAME, category, world)]
    )


# A file about memories or the web is read once for all categories of its kind.
@cache
def _read_file(path: Path) -> Field:
    return Field(read_yaml(path), path)


@cache
def read_features() -> Mapping[str, tuple[str, ...]]:
    """Return what makes each entry hard, by id; ``python -m tests.core_features --write`` finds it."""
    return {
        name: tuple(each.text() for each in features.elements())
        for name, features in _read_file(_FOLDER / "features.json").members().items()
    }


@cache
def read_wording() -> Wording:
    """Return our sentences around function docs, also for suites without their own."""
    top: Any = read_yaml(_FOLDER / "wording.yaml")
    prompts = top["prompts"]
    styles = {name: Sentences(**texts) for name, texts in prompts["styles"].items()}
    return Wording(
        prompts=Prompts(**{**prompts, "styles": styles}),
        notes={language: Notes(**top[language]) for language in Language},
        **{name: text for name, text in top.items() if name not in ("prompts", *Language)},
    )


@cache
def make_world() -> World:
    """Return the world that the environments of all our entries share."""
    values: Any = read_yaml(_FOLDER / "world.yaml")
    return replace(world_from_json(values), filler=filler())


Entries: TypeAlias = tuple[Entry, ...]


def load_or_read(category: Category, folder: Path, read: Callable[[], Entries]) -> Entries:
    """Return the entries of a category that are kept below ``folder``, or else read and keep them."""
    file = folder / "__pycache__" / f"{category.name}.{sys.implementation.cache_tag}.entries"
    key = _describe_package()
    # Whatever is wrong with the file, the entries can be read again.
    with suppress(Exception):
        content = file.read_bytes()
        if content.startswith(key):
            entries: Entries = _Unpickler(io.BytesIO(content[len(key) :])).load()
            return entries
    entries = read()
    if not sys.dont_write_bytecode:
        draft = file.with_suffix(f".{os.getpid()}")
        # What cannot be written is read again next time.
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            with draft.open("wb") as draft_file:
                draft_file.write(key)
                _Pickler(draft_file, pickle.HIGHEST_PROTOCOL).dump(entries)
            # At once, because other processes may read it.
            draft.replace(file)
    return entries


@cache
def _describe_package() -> bytes:
    """Return a hash of the names, sizes and times of all files that entries may depend on."""
    digest = hashlib.sha256()
    for name, status in sorted(_list_files(Path(pytest_fcbench.__file__).parent)):
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return digest.digest()


def _list_files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as dir_entries:
        for each in dir_entries:
            if each.is_dir():
                if each.name != "__pycache__":
                    yield from _list_files(Path(each.path))
            elif each.name.endswith((".py", ".yaml", ".json")):
                # Not of what a link leads to: Emacs locks a file by a link that leads nowhere.
                yield each.path, each.stat(follow_symlinks=False)


class _Pickler(pickle.Pickler):
    """Writes the name of a category in place of it: there is one object for each."""

    def persistent_id(self, value: object) -> str | None:
        return value.name if isinstance(value, Category) else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: str) -> Category:
        return CATEGORIES[name]


_SUBJECTS = ("The team", "Our supplier", "The committee", "A visitor", "The archive", "Nobody", "The garden")
_VERBS = ("reviewed", "measured", "painted", "forgot", "described", "ordered", "repaired", "compared")
_OBJECTS = (
    "the northern bridge",
    "two hundred chairs",
    "last year's harvest",
    "the ferry timetable",
    "a map",
)
_ENDINGS = ("without delay", "before noon", "for the third time", "as agreed", "in heavy rain", "by hand")
_TOPICS = ("history", "management", "products", "suppliers", "risks", "outlook", "locations", "customers")
_SYLLABLES = ("ka", "lo", "mir", "ven", "sta", "ro", "bel", "tun", "gar", "dis", "fen", "hol")
_SEED = 20_240_901


@cache
def filler() -> Filler:
    """Make the filler of all domains that use it."""
    random = Random(_SEED)  # noqa: S311 - it must be the same every time
    # All draws come from one source, so additions go to the end: the rest then stays the same.
    symbols = ["".join(random.choices("BCDFGHJKLMNPQRSTVWXZ", k=4)) for _ in range(600)]
    return Filler(
        file_text=" " + _make_text(random, 40),
        file_names=[f"scan_{random.randrange(10**9):09}.tif" for _ in range(30)],
        watch_list=symbols[:400],
        transactions=[
            {
                "type": random.choice(("deposit", "withdrawal")),
                "amount": round(random.uniform(10, 9999), 2),
                "timestamp": f"{_make_date(random)} 09:00:00",
            }
            for _ in range(300)
        ],
        ma_5=[round(random.uniform(150, 250), 2) for _ in range(500)],
        ma_20=[round(random.uniform(150, 250), 2) for _ in range(500)],
        sectors={"Technology": symbols[400:500], "Automobile": symbols[500:]},
        order_details={topic: f"{{symbol}}, {topic}: {_make_text(random, 8)}" for topic in _TOPICS},
        car_status=_make_text(random, 70),
        weather={
            f"{-day}_day": {"windSpeed": random.randint(0, 30), "humidity": random.randint(20, 100)}
            for day in range(1, 15)
        },
        parking_brake=_make_text(random, 90),
        cities=[_make_name(random) for _ in range(400)],
        credit_cards={
            str(random.randrange(10**15, 10**16)): {
                "card_number": str(random.randrange(10**15, 10**16)),
                "expiration_date": f"{random.randint(1, 12):02}/{random.randint(25, 30)}",
                "cardholder_name": f"{_make_name(random)} {_make_name(random)}",
                "card_verification_number": random.randint(100, 999),
                "balance": float(random.randint(1, 90) * 100),
            }
            for _ in range(20)
        },
        bookings={
            f"booking_{number}": {
                "card_id": f"{random.randrange(10**12)}",
                "travel_date": _make_date(random),
                "travel_from": _make_name(random),
                "travel_to": _make_name(random),
                "travel_class": random.choice(("economy", "business", "first")),
                "travel_cost": float(random.randint(1, 40) * 50),
                "transaction_id": f"{random.randrange(10**8)}",
            }
            for number in range(801, 816)
        },
        accompanying=_make_accompanying(random),
    )


def _make_accompanying(random: Random) -> Mapping[str, Table]:
    """Make what services tell beside a result: the domains of messages, tickets and files return little."""
    notices = {"service_notices": [_make_text(random, 3) for _ in range(8)]}
    articles = {"help_articles": [{"title": topic, "text": _make_text(random, 5)} for topic in _TOPICS]}
    trends = {
        "trending": [
            {"username": _make_name(random).lower(), "content": _make_text(random, 2)} for _ in range(15)
        ]
    }
    listing = {"recent_backups": [f"{_make_date(random)}_{_make_name(random)}.tar" for _ in range(60)]}
    return {
        **dict.fromkeys(("get_user_id", "list_users", "message_login", "send_message"), notices),
        **dict.fromkeys(("create_ticket", "get_ticket", "ticket_login"), articles),
        **dict.fromkeys(("authenticate_twitter", "follow_user", "list_all_following", "post_tweet"), trends),
        "cd": listing,
    }


def _make_text(random: Random, sentences: int) -> str:
    parts = (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)
    return " ".join(f"{' '.join(map(random.choice, parts))}." for _ in range(sentences))


def _make_name(random: Random) -> str:
    return "".join(random.choices(_SYLLABLES, k=3)).capitalize()


def _make_date(random: Random, form: str = "2023-{:02}-{:02}") -> str:
    return form.format(random.randint(1, 12), random.randint(1, 28))

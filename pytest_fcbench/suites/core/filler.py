"""Filler that makes contexts long, composed from a small vocabulary; the same every time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random

from pytest_fcbench.environments.world import Filler, Table

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
    articles = {
        "help_articles": [{"title": topic, "text": _make_text(random, 5)} for topic in _TOPICS],
    }
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

"""What the controller's conversations bring arrives in the workers as it was, whoever of them ends first."""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fcbench.dispatch import worker_link as link_module
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.worker_link import Link, LinkOffer, LinkServer
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError, RunStoppedError
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Fault,
    Step,
    ToolCall,
    Transcript,
)
from pytest_fcbench.models.providers.endpoint_model import RequestRefusedError
from tests.cases import each_case
from tests.conftest import ROOT
from tests.dispatch.clock import Attempt, wait_until
from tests.dispatch.peer import offer_from_json, offer_to_json
from tests.dispatch.test_dispatcher import SlowModel, list_asked_for
from tests.factories import make_entry, make_transcript

ENTRY = make_entry()
TranscriptOf = Callable[[Entry], Transcript]

HANGS_S = 1.0
"""How long a test waits for what is known to hang."""


def echo_entry(entry: Entry) -> Transcript:
    return make_transcript(f"about {entry.id}", entry=entry.key)


def make_numbered_entry(number: int) -> Entry:
    return make_entry(entry_id=f"simple_python_{number}")


def make_server(transcript: TranscriptOf = echo_entry) -> LinkServer:
    """Make a server that knows all entries of one suite and runs a conversation in a thread of its own."""

    def find_entry(item_id: str) -> Entry | None:
        suite, _, entry_id = item_id.partition(":")
        return make_entry(entry_id=entry_id) if suite == ENTRY.suite else None

    def run_in_thread(entry: Entry) -> Future[Transcript]:
        future: Future[Transcript] = Future()

        def run_conversation() -> None:
            try:
                future.set_result(transcript(entry))
            except BaseException as error:  # noqa: BLE001 - raised where the transcript is waited for
                future.set_exception(error)

        threading.Thread(target=run_conversation, daemon=True).start()
        return future

    return LinkServer(find_entry, run_in_thread)


@contextmanager
def serve_transcripts(transcript: TranscriptOf = echo_entry) -> Iterator[LinkServer]:
    server = make_server(transcript)
    try:
        yield server
    finally:
        close_server(server)


def close_server(server: LinkServer) -> None:
    """Close the server, or fail where that hangs."""
    Attempt(server.close).result()


def connect_to(server: LinkServer) -> Link:
    """Connect to the server; fail where there is no link or where it hangs."""
    link = Attempt(lambda: Link.connect(server.offer)).result()
    assert isinstance(link, Link)
    return link


@contextmanager
def serve_and_connect(transcript: TranscriptOf = echo_entry) -> Iterator[Link]:
    with serve_transcripts(transcript) as server, closing(connect_to(server)) as link:
        yield link


def get_transcript(link: Link, entry: Entry = ENTRY) -> Transcript:
    """Return the transcript, or fail where none comes."""
    answer = Attempt(lambda: link.transcript(entry)).result()
    assert isinstance(answer, Transcript)
    return answer


def expect_not_scored(link: Link, entry: Entry = ENTRY) -> NotScoredError:
    with pytest.raises(NotScoredError) as caught:
        get_transcript(link, entry)
    return caught.value


def always_give(outcome: Transcript | BaseException) -> TranscriptOf:
    def give_outcome(entry: Entry) -> Transcript:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return give_outcome


# What arrives


def nest_arguments(depth: int) -> dict[str, object]:
    """Nest arguments as deep as that."""
    value: dict[str, object] = {"days": 1}
    for _ in range(depth):
        value = {"inner": value}
    return value


def with_arguments(arguments: object) -> Transcript:
    return make_transcript(Completion(tool_calls=(ToolCall("f", arguments, "call_0"), "a text part")))


ACTED = Step(Completion(text="語"), ("f(a='語')", "g()"), ("\ud800", "{}"))


@each_case(
    "transcript",
    [
        make_transcript("grüße 語 🂡 \x00 \u2028"),
        make_transcript("\ud800 alone \udfff\udc00"),
        make_transcript(Completion(text=None, tool_calls=(), reasoning="", fault=Fault.OVERFLOW)),
        make_transcript(Completion(text="x", input_tokens=2**70, output_tokens=0, latency_s=1e-300)),
        make_transcript("a" * 8_000_000),
        with_arguments("語" * 2_000_000),
        with_arguments({"a": [1, None, {"b": [2.5, "\ud800"]}], "\udfff": True}),
        with_arguments(nest_arguments(200)),
        Transcript("core:x", "m", Prompting.make_default(Mode.PROMPT), ((Step(Completion()),) * 500,) * 4),
        Transcript(
            "core:x", "m", Prompting(Mode.FC, Names.DOTTED, "tool_calls"), ((), (ACTED, Step(Completion())))
        ),
    ],
    ids=[
        "letters",
        "lone surrogates",
        "nothing and a fault",
        "numbers",
        "8 MB of text",
        "6 MB of arguments",
        "arguments of all kinds",
        "deep arguments",
        "many steps",
        "calls and results",
    ],
)
def test_a_transcript_arrives_as_it_was(transcript: Transcript) -> None:
    with serve_and_connect(always_give(transcript)) as link:
        assert get_transcript(link) == transcript
        assert get_transcript(link) == transcript


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
texts = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=30)


@pytest.fixture(scope="module")
def mirror() -> Iterator[tuple[Link, list[Transcript]]]:
    """Return a link, and a list whose last transcript is what it gives."""
    given_: list[Transcript] = []
    with serve_and_connect(lambda _: given_[-1]) as link:
        yield link, given_


@given(text=st.none() | texts, name=texts, arguments=values)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_model_says_arrives(
    mirror: tuple[Link, list[Transcript]], text: str | None, name: str, arguments: object
) -> None:
    link, given_ = mirror
    completion = Completion(text=text, tool_calls=(ToolCall(name, arguments),), reasoning=text)
    given_.append(make_transcript(completion))
    assert link.transcript(ENTRY) == given_[-1]


def test_the_entry_of_the_controller_is_asked() -> None:
    """Only its id is sent: a trial has an id of its own."""
    known = [
        make_entry("simple_java", query="\ud800 語", entry_id="simple_java_3"),
        replace(make_entry(), trial=2),
        make_entry(entry_id="\ud800 語"),
    ]
    seen: list[Entry] = []

    def note_entry(entry: Entry) -> Future[Transcript]:
        seen.append(entry)
        future: Future[Transcript] = Future()
        future.set_result(echo_entry(entry))
        return future

    server = LinkServer({entry.item_id: entry for entry in known}.get, note_entry)
    try:
        with closing(connect_to(server)) as link:
            for one in known:
                assert get_transcript(link, replace(one, turns=())) == echo_entry(one)
            reason = "LookupError: the controlling process does not know the entry core:other"
            assert expect_not_scored(link, make_entry(entry_id="other")).reason == reason
            assert get_transcript(link, known[0]) == echo_entry(known[0])
    finally:
        close_server(server)
    assert seen == [*known, known[0]]


def test_entries_that_are_announced_are_expected_in_order() -> None:
    told: list[list[Entry]] = []
    known = [make_numbered_entry(number) for number in range(3)]
    server = LinkServer({entry.item_id: entry for entry in known}.get, lambda _: Future(), told.append)
    try:
        with closing(connect_to(server)) as link:
            link.expect([known[2], make_entry(entry_id="other"), known[0]])
            wait_until(lambda: bool(told))
    finally:
        close_server(server)
    assert told == [[known[2], known[0]]]


@each_case(
    "error",
    [
        NotScoredError("bad_request", "no \ud800 such 語"),
        NotScoredError("endpoint", "r" * 3_000_000),
        CallError("rate_limit", "429", transient=True, retry_after_s=5),
        RequestRefusedError("m: no such parameter", "no such parameter"),
        CallError("", ""),
        RunStoppedError("cancelled", "the run ended before the answer arrived"),
    ],
    ids=["not scored", "a long reason", "a call", "a refused request", "empty", "stopped"],
)
def test_an_answer_that_is_missing_is_missing_for_the_same_reason(error: NotScoredError) -> None:
    with serve_and_connect(always_give(error)) as link:
        for _ in range(2):
            found = expect_not_scored(link)
            assert isinstance(found, RunStoppedError) == isinstance(error, RunStoppedError)
            assert (found.cause, found.reason, str(found)) == (error.cause, error.reason, error.reason)


def make_unpicklable_error() -> Exception:
    error = ValueError("broken", threading.Lock())
    error.add_note("and it holds what cannot be sent")
    return error


@each_case(
    ("error", "reason"),
    [
        (LookupError("a bug of ours"), "LookupError: a bug of ours"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (EOFError("not of the link"), "EOFError: not of the link"),
        (BrokenPipeError(32, "not of the link"), "BrokenPipeError: [Errno 32] not of the link"),
        (SystemExit(3), "SystemExit: 3"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_else_is_raised_is_an_internal_error(error: BaseException, reason: str) -> None:
    with serve_and_connect(always_give(error)) as link:
        found = expect_not_scored(link)
        assert (type(found), found.cause, found.reason) == (NotScoredError, "internal_error", reason)
        assert expect_not_scored(link).cause == "internal_error"


def test_a_late_transcript_is_not_taken_for_that_of_the_next_entry() -> None:
    release = threading.Event()

    def echo_first_late(entry: Entry) -> Transcript:
        if entry == make_numbered_entry(1):
            release.wait(60)
        return echo_entry(entry)

    with serve_and_connect(echo_first_late) as link:
        with pytest.raises(TimeoutError):
            link.transcript(make_numbered_entry(1), within_s=0.01)
        assert get_transcript(link, make_numbered_entry(2)) == echo_entry(make_numbered_entry(2))
        release.set()
        assert get_transcript(link, make_numbered_entry(1)) == echo_entry(make_numbered_entry(1))


# Asking ahead


@dataclass(frozen=True)
class _Asked:
    """What a server was asked; the conversations about some numbers wait for ``go``."""

    numbers: list[int] = field(default_factory=list)
    waits_for: frozenset[int] = frozenset()
    go: threading.Event = field(default_factory=threading.Event)

    def echo_entry(self, entry: Entry) -> Transcript:
        number = int(entry.id.rpartition("_")[2])
        self.numbers.append(number)
        if number in self.waits_for:
            self.go.wait(20)
        return echo_entry(entry)


def ask_number(link: Link, number: int, following: int | None = None) -> None:
    """Ask as a test does before which its successor was announced, and expect the right transcript."""
    link.expect_next(None if following is None else make_numbered_entry(following))
    assert get_transcript(link, make_numbered_entry(number)) == echo_entry(make_numbered_entry(number))


def test_the_next_entry_is_asked_for_before_its_test_runs() -> None:
    asked = _Asked()
    with serve_and_connect(asked.echo_entry) as link:
        ask_number(link, 1, following=2)
        wait_until(lambda: asked.numbers == [1, 2])
        ask_number(link, 2)
        ask_number(link, 3)
    assert asked.numbers == [1, 2, 3]


def test_a_test_that_runs_again_leaves_the_next_its_outcome() -> None:
    asked = _Asked()
    with serve_and_connect(asked.echo_entry) as link:
        for _ in range(3):
            ask_number(link, 1, following=2)
        ask_number(link, 2)
    assert asked.numbers == [1, 2, 1, 1]


def test_an_entry_whose_test_was_left_out_is_asked_for_again_later() -> None:
    asked = _Asked()
    with serve_and_connect(asked.echo_entry) as link:
        ask_number(link, 1, following=2)
        ask_number(link, 3, following=4)
        ask_number(link, 2)
        ask_number(link, 4)
    assert asked.numbers == [1, 2, 3, 4, 2, 4]


def test_the_time_for_a_transcript_counts_what_it_waits_for_another() -> None:
    asked = _Asked(waits_for=frozenset([2]))
    with serve_and_connect(asked.echo_entry) as link:
        ask_number(link, 1, following=2)
        with pytest.raises(TimeoutError):
            link.transcript(make_numbered_entry(1), within_s=0.05)
        # Nothing is mistaken for what is still to come.
        ask_number(link, 3)
        asked.go.set()
        ask_number(link, 2)


def test_there_is_one_time_limit_for_all_that_a_test_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    def note_limit(
        connection: link_module._Connection, within_s: float | None, longest: int = 2**20
    ) -> object:
        if within_s is not None:
            limits.append(within_s)
        return receive(connection, within_s, longest)

    with serve_and_connect() as link:
        ask_number(link, 1, following=2)
        # What a connection does is not public, and the limit is not to be measured.
        receive = link_module._Connection.receive
        monkeypatch.setattr(link_module._Connection, "receive", note_limit)
        link.transcript(make_numbered_entry(1), within_s=20)
    first, second = limits
    assert 20 >= first > second > 0


def test_an_answer_is_not_lost_where_the_next_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def send_first(connection: link_module._Connection, message: Mapping[str, object]) -> None:
        if message != {"ask": make_numbered_entry(1).item_id}:
            raise BrokenPipeError
        send(connection, message)

    with serve_and_connect() as link:
        send = link_module._Connection.send
        monkeypatch.setattr(link_module._Connection, "send", send_first)
        ask_number(link, 1, following=2)
        assert expect_not_scored(link, make_numbered_entry(2)).cause == "controller_lost"


def test_no_time_at_all_is_a_time_limit_too() -> None:
    asked = _Asked(waits_for=frozenset([1]))
    with serve_and_connect(asked.echo_entry) as link:
        with pytest.raises(TimeoutError):
            link.transcript(make_numbered_entry(1), within_s=0.0)
        asked.go.set()
        ask_number(link, 1)


def test_the_controller_ends_after_it_was_asked_ahead() -> None:
    with serve_transcripts() as server, closing(connect_to(server)) as link:
        ask_number(link, 1, following=2)
        close_server(server)
        error = expect_not_scored(link, make_numbered_entry(3))
        assert (type(error), error.cause) == (RunStoppedError, "controller_lost")


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3)), max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_whatever_order_tests_are_announced_and_run_each_gets_its_own(
    echo: Link, tests: list[tuple[int, int | None]]
) -> None:
    for number, following in tests:
        ask_number(echo, number, following)


@pytest.fixture(scope="module")
def echo() -> Iterator[Link]:
    """Return a link whose transcripts name their entries."""
    with serve_and_connect() as link:
        yield link


# What cannot be sent


def test_an_error_that_holds_what_cannot_be_sent() -> None:
    with serve_and_connect(always_give(make_unpicklable_error())) as link:
        assert expect_not_scored(link).reason.startswith("ValueError: ('broken', <unlocked _thread.lock")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "arguments", [nest_arguments(500_000), threading.Lock()], ids=["too deep", "not data"]
)
def test_an_answer_that_cannot_be_sent_is_one_answer_missing(arguments: object) -> None:
    transcripts = iter([with_arguments(arguments), echo_entry(ENTRY)])
    with serve_and_connect(lambda _: next(transcripts)) as link:
        with pytest.raises(NotScoredError) as caught:
            get_transcript(link)
        assert caught.value.cause == "internal_error"
        assert get_transcript(link) == echo_entry(ENTRY)


# Who may connect


def test_a_wrong_key_is_no_link_and_disturbs_nobody() -> None:
    with serve_transcripts() as server, closing(connect_to(server)) as before:
        wrong: LinkOffer = {"address": server.offer["address"], "key": b"\0" * 32}
        for _ in range(3):
            assert Attempt(lambda: Link.connect(wrong)).result() is None
        with closing(connect_to(server)) as after:
            assert get_transcript(after) == get_transcript(before) == echo_entry(ENTRY)


def test_keys_are_of_one_run() -> None:
    with serve_transcripts() as one, serve_transcripts() as other:
        assert one.offer["key"] != other.offer["key"]
        crossed: LinkOffer = {"address": one.offer["address"], "key": other.offer["key"]}
        assert Attempt(lambda: Link.connect(crossed)).result() is None


def test_an_address_where_nobody_listens_is_no_link() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        offer: LinkOffer = {"address": nobody.getsockname(), "key": b"k"}
        assert Attempt(lambda: Link.connect(offer)).result() is None


def test_the_address_of_a_server_that_was_closed_is_no_link() -> None:
    with serve_transcripts() as server:
        offer = server.offer
    assert Attempt(lambda: Link.connect(offer)).result() is None


@contextmanager
def connect_as_stranger(address: tuple[str, int]) -> Iterator[socket.socket]:
    """Open a plain connection, as somebody who does not know what is spoken there."""
    with socket.create_connection(address) as plain:
        yield plain


@each_case("said", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x05hello", b"\xff" * 300, b"\0\0\0"])
def test_strangers_who_leave_again_disturb_nobody(said: bytes) -> None:
    with serve_transcripts() as server:
        for _ in range(3):
            with connect_as_stranger(server.offer["address"]) as plain:
                plain.sendall(said)
        with closing(connect_to(server)) as link:
            assert get_transcript(link) == echo_entry(ENTRY)


def test_a_stranger_who_stays_and_says_nothing_keeps_nobody_out() -> None:
    """A worker that is stopped (Ctrl-Z, a debugger) while it connects is one too."""
    with serve_transcripts() as server:
        attempt = None
        try:
            with connect_as_stranger(server.offer["address"]):
                attempt = Attempt(lambda: Link.connect(server.offer))
                link = attempt.result(HANGS_S)
                assert isinstance(link, Link)
                link.close()
        finally:
            if attempt is not None:
                attempt.join(10)


def test_a_stranger_who_stays_does_not_keep_the_server_from_closing() -> None:
    server = make_server()
    with connect_as_stranger(server.offer["address"]):
        threading.Event().wait(0.03)  # so that it is let in
        Attempt(server.close).result(HANGS_S)


def test_a_stranger_who_says_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "_PROOF_S", 0.05)
    with serve_transcripts() as server, connect_as_stranger(server.offer["address"]) as plain:
        plain.settimeout(10)
        plain.recv(1000)  # the challenge
        assert plain.recv(1) == b""


def test_closing_the_link_under_a_worker_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    server = make_server()
    with closing(connect_to(server)) as link:
        assert get_transcript(link) == echo_entry(ENTRY)
        close_server(server)
    assert caplog.records == []


def test_two_hundred_strangers_who_say_nothing_cost_no_thread() -> None:
    with serve_transcripts() as server, ExitStack() as stack:
        before = threading.active_count()
        for _ in range(200):
            stack.enter_context(connect_as_stranger(server.offer["address"]))
        with closing(connect_to(server)) as link:
            assert get_transcript(link) == echo_entry(ENTRY)
            # The test's own conversation may not have ended yet.
            assert threading.active_count() <= before + 1


class Exploit:
    """What a pickle of it would do when it is read."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 1",)


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@each_case(
    "said",
    [
        pickle.dumps(Exploit()),
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({"challenge": "\ud800", "proof": "ü"}).encode(),
        json.dumps({"challenge": "a", "proof": ["b"]}).encode(),
    ],
    ids=["pickle", "no JSON", "deep", "surrogate", "list"],
)
def test_a_stranger_without_proof_is_told_nothing(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(os, "system", ran.append)
    with serve_transcripts() as server:
        with connect_as_stranger(server.offer["address"]) as plain:
            plain.settimeout(10)
            plain.recv(1000)
            plain.sendall(frame(said))
            with suppress(ConnectionResetError):
                assert plain.recv(1) == b""
        with closing(connect_to(server)) as link:
            assert get_transcript(link) == echo_entry(ENTRY)
    assert ran == []


def test_what_it_was_sent_is_no_proof_of_the_server() -> None:
    """Somebody at the address who repeats the worker's own proof has not shown that he has the key."""
    with socket.create_server(("127.0.0.1", 0)) as other:

        def repeat_proof() -> None:
            connection, _ = other.accept()
            with connection:
                connection.sendall(frame(b'{"challenge": "c"}'))
                told = json.loads(connection.recv(1000)[4:])
                connection.sendall(frame(json.dumps({"proof": told["proof"]}).encode()))
                connection.recv(1)

        speaking = Attempt(repeat_proof)
        offer: LinkOffer = {"address": other.getsockname(), "key": b"k"}
        assert Attempt(lambda: Link.connect(offer)).result() is None
        speaking.result()


def test_somebody_else_at_the_address_is_no_link() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet_once() -> None:
            connection, _ = other.accept()
            with connection:
                connection.sendall(b"220 ready\r\n")
                connection.recv(1000)

        speaking = Attempt(greet_once)
        offer: LinkOffer = {"address": other.getsockname(), "key": b"k"}
        assert Attempt(lambda: Link.connect(offer)).result() is None
        speaking.result()


def test_it_listens_on_loopback_alone_and_leaves_nothing_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with serve_transcripts() as server, closing(connect_to(server)) as link:
        assert server.offer["address"][0] == "127.0.0.1"
        get_transcript(link)
        assert list(tmp_path.iterdir()) == []


# Processes


@contextmanager
def start_peer(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """``tests.dispatch.peer``, which is not left running."""
    command = [sys.executable, "-m", "tests.dispatch.peer", *arguments]
    pipe = subprocess.PIPE
    with tempfile.TemporaryDirectory() as folder:  # one that is killed tidies nothing up
        environment = {**os.environ, "TMPDIR": folder}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe) as process:
            try:
                yield process
            finally:
                process.kill()


@contextmanager
def start_workers(server: LinkServer, *ids: list[str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start several peers at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(start_peer("ask", offer_to_json(server.offer), *one)) for one in ids]


def outcomes_of(process: subprocess.Popen[bytes]) -> list[Transcript | NotScoredError | None]:
    written, _ = process.communicate(timeout=20)
    outcomes: list[Transcript | NotScoredError | None] = pickle.loads(written)
    return outcomes


def hard_to_send(entry: Entry) -> Transcript:
    if entry.id.endswith("_1"):
        raise CallError("endpoint", "no \ud800 such", transient=True)
    if entry.id.endswith("_2"):
        raise RunStoppedError("cancelled", "over")
    if entry.id.endswith("_3"):
        raise LookupError("a bug of ours")
    return replace(with_arguments(nest_arguments(100)), entry=entry.key, model="\udfff" + "m" * 3_000_000)


def predict_outcome(entry: Entry) -> Transcript | NotScoredError:
    """Return what a process that asks must be told."""
    try:
        return hard_to_send(entry)
    except NotScoredError as error:
        return error
    except LookupError as error:
        return NotScoredError("internal_error", f"LookupError: {error}")


def simplify_outcome(outcome: Transcript | NotScoredError | None) -> object:
    """Reduce an outcome to what can be compared."""
    if isinstance(outcome, NotScoredError):
        return type(outcome), outcome.cause, outcome.reason
    return outcome


@pytest.mark.nightly
def test_several_processes_at_once_get_what_they_asked_for() -> None:
    ids = [[f"simple_python_{process}{number}" for number in range(8)] for process in (1, 2, 3)]
    with serve_transcripts(hard_to_send) as server, start_workers(server, *ids) as processes:
        for process, asked in zip(processes, ids, strict=True):
            for entry_id, outcome in zip(asked, outcomes_of(process), strict=True):
                assert simplify_outcome(outcome) == simplify_outcome(
                    predict_outcome(make_entry(entry_id=entry_id))
                )


@contextmanager
def start_controller() -> Iterator[tuple[subprocess.Popen[bytes], Link]]:
    """Start a server in another process and connect to it."""
    with start_peer("serve") as process:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], 20)
        assert ready
        offer = offer_from_json(process.stdout.readline().decode())
        link = Attempt(lambda: Link.connect(offer)).result()
        assert isinstance(link, Link)
        with closing(link):
            yield process, link


def test_the_controller_is_killed_while_a_worker_waits() -> None:
    with start_controller() as (process, link):
        assert get_transcript(link).last.text == "from another process"
        waiting = Attempt(lambda: link.transcript(make_numbered_entry(1)))
        process.kill()
        with pytest.raises(RunStoppedError) as caught:
            waiting.result()
        assert caught.value.cause == "controller_lost"
        for number in range(2):
            assert expect_not_scored(link, make_numbered_entry(number)).cause == "controller_lost"


def test_the_controller_has_ended_when_a_worker_asks() -> None:
    with start_controller() as (process, link):
        process.kill()
        process.wait(20)
        error = expect_not_scored(link)
        assert (type(error), error.cause) == (RunStoppedError, "controller_lost")


def test_a_worker_that_is_killed_while_it_waits_disturbs_nobody() -> None:
    asked, go = threading.Event(), threading.Event()

    def hold_second(entry: Entry) -> Transcript:
        if entry.id.endswith("_1"):
            asked.set()
            go.wait(20)
        return echo_entry(entry)

    with (
        serve_transcripts(hold_second) as server,
        closing(connect_to(server)) as other,
        start_workers(server, ["simple_python_1"]) as (process,),
    ):
        assert asked.wait(20)
        process.kill()
        process.wait(20)
        assert get_transcript(other) == echo_entry(ENTRY)
        go.set()
        with closing(connect_to(server)) as later:
            for link in (other, later):
                assert get_transcript(link, make_numbered_entry(1)) == echo_entry(make_numbered_entry(1))


# The end


def test_it_can_be_closed_unused() -> None:
    with serve_transcripts():
        pass


def test_it_can_be_closed_twice() -> None:
    server = make_server()
    close_server(server)
    close_server(server)


def test_closing_ends_the_thread_that_accepts() -> None:
    # Threads of earlier tests may end meanwhile.
    before = set(threading.enumerate())
    with serve_and_connect() as link:
        get_transcript(link)
        started = set(threading.enumerate()) - before
        assert started
    wait_until(lambda: not any(thread.is_alive() for thread in started))


def test_a_worker_learns_that_the_server_was_closed() -> None:
    with serve_transcripts() as server:
        link = connect_to(server)
    error = expect_not_scored(link)
    assert (type(error), error.cause) == (RunStoppedError, "controller_lost")
    link.close()


def test_a_conversation_goes_on_when_nobody_waits_for_it_any_more() -> None:
    """A future that somebody cancelled could not take the transcript."""
    waiting: Future[Transcript] = Future()
    asked = threading.Event()

    def request_transcript(entry: Entry) -> Future[Transcript]:
        asked.set()
        return waiting

    server = LinkServer(lambda _: ENTRY, request_transcript)
    link = connect_to(server)
    asking = Attempt(lambda: link.transcript(ENTRY))
    assert asked.wait(10)
    close_server(server)
    waiting.set_result(echo_entry(ENTRY))
    with pytest.raises(RunStoppedError) as caught:
        asking.result()
    assert caught.value.cause == "controller_lost"
    link.close()


def test_a_link_that_was_closed_gives_nothing() -> None:
    with serve_and_connect() as link:
        link.close()
        error = expect_not_scored(link)
        assert (type(error), error.cause) == (RunStoppedError, "controller_lost")
        link.close()


def test_those_who_wait_learn_that_the_run_has_ended() -> None:
    """As in a run: first the dispatcher is closed, then the link."""

    def ask_once(entry: Entry) -> Conversation:
        return make_transcript((yield AskModel(())), entry=entry.key)

    model = SlowModel()
    model.go.clear()
    dispatcher = Dispatcher(model, ask_once, 1)
    dispatcher.expect([])  # who comes first makes the loop: a test of the dispatcher
    with serve_transcripts(dispatcher.transcript) as server, ExitStack() as stack:
        links = [stack.enter_context(closing(connect_to(server))) for _ in range(4)]
        waiting = [
            Attempt(partial(link.transcript, make_numbered_entry(number)))
            for number, link in enumerate(links)
        ]
        wait_until(lambda: len(list_asked_for(dispatcher)) == 4 and model.in_flight == 1)
        Attempt(dispatcher.close).result()
        for attempt in waiting:
            with pytest.raises(RunStoppedError) as caught:
                attempt.result()
            assert caught.value.cause == "cancelled"


# Threads, signals


def test_many_workers_at_once() -> None:
    with serve_transcripts() as server, ExitStack() as stack:
        links = [stack.enter_context(closing(connect_to(server))) for _ in range(20)]

        def ask_all(link: Link) -> list[Transcript]:
            return [link.transcript(make_numbered_entry(number)) for number in range(30)]

        attempts = [Attempt(lambda link=link: ask_all(link)) for link in links]  # type: ignore[misc]
        for attempt in attempts:
            assert attempt.result() == [echo_entry(make_numbered_entry(number)) for number in range(30)]


def test_many_workers_connect_at_once() -> None:
    with serve_transcripts() as server:
        attempts = [Attempt(lambda: Link.connect(server.offer)) for _ in range(20)]
        for attempt in attempts:
            link = attempt.result()
            assert isinstance(link, Link)
            assert get_transcript(link) == echo_entry(ENTRY)
            link.close()


def test_one_that_is_slow_does_not_hold_up_the_others() -> None:
    go = threading.Event()

    def hold_second(entry: Entry) -> Transcript:
        if entry.id.endswith("_1"):
            go.wait(20)
        return echo_entry(entry)

    with (
        serve_transcripts(hold_second) as server,
        closing(connect_to(server)) as slow,
        closing(connect_to(server)) as quick,
    ):
        waiting = Attempt(lambda: slow.transcript(make_numbered_entry(1)))
        assert get_transcript(quick) == echo_entry(ENTRY)
        assert waiting.is_alive()
        go.set()
        assert waiting.result() == echo_entry(make_numbered_entry(1))


class TimeIsUp(Exception):  # noqa: N818 - reads as the state it names
    """What pytest-timeout does to a body that takes too long."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="only where there are such signals")
def test_a_body_that_was_interrupted_leaves_its_answer_to_nobody_else() -> None:
    """pytest-timeout raises in the body; the next body must not be judged by the answer to the last."""
    go = threading.Event()

    def hold_second(entry: Entry) -> Transcript:
        if entry.id.endswith("_1"):
            go.wait(20)
        return echo_entry(entry)

    def raise_time_is_up(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp("more than 0.1 s")

    with serve_and_connect(hold_second) as link:
        before = signal.signal(signal.SIGALRM, raise_time_is_up)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(TimeIsUp, match=r"more than 0.1 s"):
                link.transcript(make_numbered_entry(1))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            go.set()
        with suppress(RunStoppedError):  # to give up is right too
            assert get_transcript(link, make_numbered_entry(2)) == echo_entry(make_numbered_entry(2))

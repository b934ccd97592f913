"""Pages on loopback: only GET, only for those who name this server, nothing but what a function finds."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.server.pages import HOST, JSON, PageServer, ServedPage


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    (tmp_path / "page.html").write_text("from a file")

    def find_page(path: str, query: Mapping[str, Sequence[str]]) -> ServedPage | None:
        if path == "/wrong":
            raise UsageError("no run '\x1b' is kept")
        if path == "/bug":
            raise ZeroDivisionError
        return {
            "/": ServedPage("first"),
            "/large": ServedPage("x" * 2**26),
            "/file": ServedPage(tmp_path / "page.html"),
            "/gone": ServedPage(tmp_path / "deleted.html"),
            "/a b": ServedPage(",".join(query.get("run", ())), JSON),
        }.get(path)

    with PageServer(0, find_page) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.05,))
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(
    server: PageServer, path: str, method: str = "GET", host: str | None = None
) -> tuple[int, str, http.client.HTTPMessage]:
    port = int(server.server_address[1])
    with closing(http.client.HTTPConnection(HOST, port, timeout=30)) as connection:
        connection.request(method, path, headers={"Host": host or f"{HOST}:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers


def test_pages_are_texts_and_files(server: PageServer) -> None:
    assert ask(server, "/")[:2] == (200, "first")
    assert ask(server, "/file")[:2] == (200, "from a file")
    assert ask(server, "/nothing")[0] == 404
    status, text, _ = ask(server, "/gone")
    assert (status, "No such file" in text) == (404, True)


def test_paths_and_queries_are_decoded(server: PageServer) -> None:
    status, text, headers = ask(server, "/a%20b?run=x&run=y%26z")
    assert (status, text, headers["Content-Type"]) == (200, "x,y&z", JSON)


def test_another_name_of_this_machine_is_refused(server: PageServer) -> None:
    port = server.server_address[1]
    assert ask(server, "/", host=f"localhost:{port}")[0] == 200
    for host in ("example.com", f"example.com:{port}", HOST, f"{HOST}:1", f"[::1]:{port}"):
        status, text, _ = ask(server, "/", host=host)
        assert (status, text) == (403, "this server answers requests to 127.0.0.1 only")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_nothing_but_get_is_answered(server: PageServer, method: str) -> None:
    assert ask(server, "/", method)[0] == 501


def test_an_error_is_told_as_text_that_can_be_seen(server: PageServer) -> None:
    status, text, headers = ask(server, "/wrong")
    assert (status, text) == (400, "no run '\\x1b' is kept")
    assert headers["Content-Type"].startswith("text/plain")


def test_an_address_that_is_none_is_refused(server: PageServer) -> None:
    assert ask(server, "http://[")[:2] == (400, "not an address")


def test_a_client_that_leaves_is_no_error_to_be_printed(
    server: PageServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """It resets the connection while its page, larger than the buffers, is sent."""
    # So that closing the server waits for the thread that could still print something.
    server.daemon_threads = False
    with socket.create_connection((HOST, int(server.server_address[1])), timeout=30) as client:
        host = f"{HOST}:{server.server_address[1]}"
        client.sendall(f"GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.0 200")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server.server_close()
    assert capfd.readouterr().err == ""


def test_an_error_of_ours_is_printed(server: PageServer, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(http.client.RemoteDisconnected, match="closed connection without response"):
        ask(server, "/bug")
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_no_page_is_kept_framed_or_read_by_another_site(server: PageServer) -> None:
    for path in ("/", "/file", "/nothing"):
        headers = ask(server, path)[2]
        assert headers["Cache-Control"] == "no-store"
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Server"] == "fcbench "

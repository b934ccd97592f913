"""Workers of xdist on other machines: detect that a machine is lost, and continue with the others.

xdist waits for a vanished machine as long as the kernel keeps the connection, which without traffic is
forever, and ends the run when a dead worker cannot be started again. This module changes both through
private attributes of xdist and execnet (``_clone_node``, ``_io.sock``); with a version that lacks them it
changes nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from execnet import HostNotFound

if TYPE_CHECKING:
    from execnet.gateway_base import BaseGateway
    from execnet.xspec import XSpec
    from xdist.dsession import DSession
    from xdist.workermanage import WorkerController

_IDLE_S, _EVERY_S, _TIMES = 15, 5, 3
"""Seconds of silence before the first keepalive probe, seconds between probes, probes without an answer."""


def is_local(spec: XSpec) -> bool:
    """Return whether a worker runs on the controller's machine."""
    return bool(spec.popen) and not spec.via


def share_of_local(specs: Sequence[XSpec]) -> float:
    """Return the part of all workers that run on the controller's machine."""
    return sum(map(is_local, specs)) / len(specs)


def notice_loss(gateway: BaseGateway) -> None:
    """Have the kernel detect by keepalive probes that the other end of a connection is lost."""
    connection = getattr(getattr(gateway, "_io", None), "sock", None)
    if not isinstance(connection, socket.socket):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("KEEPIDLE", _IDLE_S), ("KEEPINTVL", _EVERY_S), ("KEEPCNT", _TIMES)):
        if option := getattr(socket, f"TCP_{name}", None):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
    # Linux sends no keepalive probes while sent data is unacknowledged; this option limits that wait.
    if option := getattr(socket, "TCP_USER_TIMEOUT", None):
        connection.setsockopt(socket.IPPROTO_TCP, option, 1000 * (_IDLE_S + _EVERY_S * _TIMES))


def forgive_death(node: WorkerController) -> None:
    """Ignore commands to a worker that died a moment ago.

    xdist learns next that it died, and gives its tests to others.
    """
    send = node.sendcommand

    def send_or_ignore(name: str, **values: object) -> None:
        with suppress(OSError):
            send(name, **values)

    node.sendcommand = send_or_ignore


def go_on_without(session: DSession) -> None:
    """Give the tests of a lost machine to the other workers; end the run in order if they take no more."""
    start_again = getattr(session, "_clone_node", None)
    if start_again is None or start_again is session.__dict__.get("_clone_node"):
        return

    def replace_or_go_on(worker: WorkerController) -> WorkerController | None:
        try:
            return start_again(worker)
        except (OSError, HostNotFound) as error:
            what = f"{worker.gateway.spec} is lost ({error})"
        others = [node for node in session._active_nodes if node is not worker and not node.shutting_down]
        if others and session.sched and session.sched.collection_is_completed:
            session.report_line(f"\n{what}; the other processes take its tests")
        else:
            session.shouldstop = (
                f"{what} and no other process can take its tests; run again, answers so far are stored"
            )
        return None

    session._clone_node: Callable[[WorkerController], WorkerController | None] = replace_or_go_on  # type: ignore[misc]

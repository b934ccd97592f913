"""The hooks of pytest-xdist: the controller runs the conversations of all workers on its machine.

Workers on other machines ask by themselves. xdist waits for a vanished machine as long as the kernel keeps
the connection, which without traffic is forever, and ends the run when a dead worker cannot be started again.
This module changes both through private attributes of xdist and execnet (``_clone_node``, ``_io.sock``); with
a version that lacks them it changes nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from execnet import HostNotFound

from pytest_fcbench.dispatch.worker_link import LinkServer
from pytest_fcbench.plugin.entry_arguments import check_mark_names
from pytest_fcbench.plugin.items import ENTRY, STOPPED, Benchmark, parse_item_id
from pytest_fcbench.run.two_models import ComparingSession

if TYPE_CHECKING:
    from execnet.gateway_base import BaseGateway
    from execnet.xspec import XSpec
    from xdist.dsession import DSession
    from xdist.remote import WorkerInteractor
    from xdist.workermanage import WorkerController


_GOODBYE_S = 0.5
"""Seconds that workers have to end after a signal. xdist gives them 10; all that they hold has been sent."""


class Workers:
    """The link between workers, which ask, and the controller, which runs the conversations."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._session = benchmark.session
        self._server: LinkServer | None = None
        self._started = False
        self._announces: bool = getattr(benchmark.config, "workerinput", {}).get("fcbench_tell", False)
        """True where workers announce their queued entries, because the controller cannot know them."""
        self._announced: set[str] = set()
        """Item ids that this worker has announced."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Make a worker end when it loses its controller, even if the connection was never closed."""
        if interactor := _find_interactor(session.config):
            notice_loss(interactor.channel.gateway)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[XSpec]) -> None:
        """Reduce the limits by the share of remote workers; local workers ask through this process."""
        self._benchmark.share = sum(map(is_local, specs)) / len(specs)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Offer a worker the link; one on another machine gets none, but its share of the limits.

        The controller knows what all workers together will ask for, but not which one: if remote workers ask
        by themselves, each worker announces what is queued for it.
        """
        self._announces = not all(map(is_local, node.nodemanager.specs))
        node.workerinput["fcbench_tell"] = self._announces
        settings = self._benchmark.context.settings
        forgive_death(node)
        if is_local(node.gateway.spec):
            context = self._benchmark.context
            # A suite is opened when a worker asks: what is wrong with one is told at collection.
            self._server = self._server or LinkServer(
                lambda key: context.selection.find(key), self._session.request, self._session.expect
            )
            node.workerinput["fcbench_link"] = self._server.offer
        elif settings.against or settings.noise:
            raise pytest.UsageError(
                f"the worker {node.gateway.spec} asks by itself, but --fcbench-against and --fcbench-noise "
                "need one process that asks for all; use workers of this machine, such as -n 2"
            )
        else:
            notice_loss(node.gateway)
            go_on_without(node.config.pluginmanager.get_plugin("dsession"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Start asking when the first worker has collected, or raise once what stops the run."""
        if self._started:
            return
        config = self._benchmark.config
        if not ids and config.option.markexpr:
            # Workers keep the marks of their items to themselves; a declared one may fit no item.
            check_mark_names(config.option.markexpr, config, ())
        item_ids = [parse_item_id(nodeid) for nodeid in ids]
        context = self._benchmark.context
        if STOPPED in item_ids:
            self._benchmark.prepare_or_stop()
        ours = [item_id for item_id in item_ids if item_id.partition(":")[0] in context.settings.suites]
        if ours:
            # This process makes no items, but gets three reports of each.
            self._benchmark.collector.calm()
        if ours and config.option.dist == "each":
            raise pytest.UsageError(
                "--dist each runs every entry once for each worker, but a scorecard has one result for each "
                "entry; share the entries among workers with -n 2, ask several times with "
                "--fcbench-trials=3, or start a run for each environment"
            )
        compares = isinstance(self._session, ComparingSession)
        if ours and self._server and (context.waits or compares):
            self._benchmark.prepare_or_stop()
            self._started = True
            entries = () if self._announces else map(context.selection.find, ours)
            self._benchmark.start_asking(list(filter(None, entries)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Announce what this worker will ask for next."""
        if not self._benchmark.is_worker:
            return
        if not self._announces:
            self._session.expect_next(nextitem.stash.get(ENTRY, None) if nextitem else None)
            return
        upcoming = [item, nextitem]
        # xdist's queue can be inspected but is not documented; without it, each entry is announced singly.
        interactor = _find_interactor(item.config)
        if interactor is not None and hasattr(interactor.torun, "lock"):
            with interactor.torun.lock() as indices:
                upcoming += [item.session.items[index] for index in indices if isinstance(index, int)]
        entries = [i.stash[ENTRY] for i in upcoming if i and ENTRY in i.stash]
        news = [entry for entry in entries if entry.item_id not in self._announced]
        self._announced.update(entry.item_id for entry in news)
        if news:
            self._session.expect(news)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Drop the reports that a worker's reporter, which writes nowhere, would keep, and their Records."""
        if not self._benchmark.is_worker:
            return
        # It has been sent; pytest-rerunfailures keeps the frames of a failed test, and so its reports.
        report.__dict__.pop("fcbench", None)
        if reporter := self._benchmark.config.pluginmanager.get_plugin("terminalreporter"):
            reporter.stats.clear()

    def pytest_unconfigure(self) -> None:
        """Close the link."""
        if self._server:
            self._server.close()


def shorten_goodbye(config: pytest.Config) -> None:
    """Let the controller wait for its workers only a moment, after which they are killed."""
    manager = getattr(config.pluginmanager.get_plugin("dsession"), "nodemanager", None)
    if manager is not None:
        manager.EXIT_TIMEOUT = _GOODBYE_S


def _find_interactor(config: pytest.Config) -> WorkerInteractor | None:
    """Return what runs the tests of a worker; None in another process."""
    return next((each for each in config.pluginmanager.get_plugins() if hasattr(each, "torun")), None)


_IDLE_S, _EVERY_S, _TIMES = 15, 5, 3
"""Seconds of silence before the first keepalive probe, seconds between probes, probes without an answer."""


def is_local(spec: XSpec) -> bool:
    """Return whether a worker runs on the controller's machine."""
    return bool(spec.popen) and not spec.via


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
            way_out = "run again, answers so far are stored"
            session.shouldstop = f"{what} and no other process can take its tests; {way_out}"
        return None

    session._clone_node: Callable[[WorkerController], WorkerController | None] = replace_or_go_on  # type: ignore[misc]

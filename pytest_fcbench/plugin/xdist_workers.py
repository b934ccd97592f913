"""The hooks of pytest-xdist: the controller holds the conversations of all workers on its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fcbench.dispatch.worker_link import LinkServer
from pytest_fcbench.plugin.items import ENTRY, STOPPED, Benchmark, item_id_of
from pytest_fcbench.plugin.remote_hosts import forgive_death, go_on_without, is_local, notice_loss

if TYPE_CHECKING:
    from xdist.remote import WorkerInteractor
    from xdist.workermanage import WorkerController


class Workers:
    """Both ends: what the controller offers, and what a worker tells."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._session = benchmark.session
        self._server: LinkServer | None = None
        self._started = False
        self._tell: bool = getattr(benchmark.config, "workerinput", {}).get("fcbench_tell", False)
        """Whether workers say what is queued for them, because the controller cannot know."""
        self._told: set[str] = set()
        """Item ids of what this worker has said."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """A worker that loses its controller ends too, also where nothing says that it is gone."""
        if interactor := _interactor(session.config):
            notice_loss(interactor.channel.gateway)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Offer a worker the link. One on another machine gets none, and has its share of the limits.

        The controller knows what all workers together will ask for, not which one will: where some ask
        for themselves, each says what is queued for it.
        """
        self._tell = not all(map(is_local, node.nodemanager.specs))
        node.workerinput["fcbench_tell"] = self._tell
        forgive_death(node)
        if is_local(node.gateway.spec):
            self._server = self._server or LinkServer(self._session.transcript, self._session.expect)
            node.workerinput["fcbench_link"] = self._server.offer
        else:
            notice_loss(node.gateway)
            go_on_without(node.config.pluginmanager.get_plugin("dsession"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The workers collect; what stops them is told by the controller, once, which then starts to ask."""
        if self._started:
            return
        item_ids = [item_id_of(nodeid) for nodeid in ids]
        context = self._benchmark.context
        if STOPPED in item_ids:
            self._benchmark.prepare_or_stop()
        ours = [item_id for item_id in item_ids if item_id.partition(":")[0] in context.settings.suites]
        if ours and self._server and context.waits:
            self._benchmark.prepare_or_stop()
            self._started = True
            found = () if self._tell else map(context.selection.find, ours)
            self._benchmark.start(list(filter(None, found)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """On a worker that tells: what it will ask for next."""
        if self._tell and self._benchmark.is_worker:
            upcoming = [item, nextitem, *_queued(item.session)]
            entries = [i.stash[ENTRY] for i in upcoming if i and ENTRY in i.stash]
            news = [entry for entry in entries if entry.item_id not in self._told]
            self._told.update(entry.item_id for entry in news)
            if news:
                self._session.expect(news)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self) -> None:
        """A worker's reporter writes nowhere, and would keep every report for it."""
        reporter = self._benchmark.config.pluginmanager.get_plugin("terminalreporter")
        if self._benchmark.is_worker and reporter is not None:
            reporter.stats.clear()

    def pytest_unconfigure(self) -> None:
        """Take no more workers."""
        if self._server:
            self._server.close()


def _interactor(config: pytest.Config) -> WorkerInteractor | None:
    """What runs the tests of a worker; None in another process."""
    return next((each for each in config.pluginmanager.get_plugins() if hasattr(each, "torun")), None)


def _queued(session: pytest.Session) -> list[pytest.Item]:
    """What xdist has sent to this worker beyond the next item. Its queue is made to be looked at, but not
    documented; without it a worker asks for one entry after the other."""
    interactor = _interactor(session.config)
    if interactor is None or not hasattr(interactor.torun, "lock"):
        return []
    with interactor.torun.lock() as indices:
        return [session.items[index] for index in indices if isinstance(index, int)]

"""The environments that calls act on: eight API domains, three memories, the web."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.environments.api.file_system import FileSystem
from pytest_fcbench.environments.api.math import Math
from pytest_fcbench.environments.api.messages import Messages
from pytest_fcbench.environments.api.posting import Posting
from pytest_fcbench.environments.api.tickets import Tickets
from pytest_fcbench.environments.api.trading import Trading
from pytest_fcbench.environments.api.travel import Travel
from pytest_fcbench.environments.api.vehicle import Vehicle
from pytest_fcbench.environments.custom import adapt_class
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.memory.kv import MemoryKv
from pytest_fcbench.environments.memory.rec_sum import MemoryRecSum
from pytest_fcbench.environments.memory.vector import MemoryVector
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.environments.world import World

DOMAINS: Mapping[str, type[Environment]] = {
    "file_system": FileSystem,
    "math": Math,
    "memory_kv": MemoryKv,
    "memory_rec_sum": MemoryRecSum,
    "memory_vector": MemoryVector,
    "messages": Messages,
    "posting": Posting,
    "tickets": Tickets,
    "trading": Trading,
    "travel": Travel,
    "vehicle": Vehicle,
    "web_search": WebSearch,
}
"""Every domain by name."""


def open_environments(entry: Entry, world: World) -> Environments:
    """Open the environments of an entry in their initial state; none where its calls are only read."""
    scene = entry.scene or Scene((), {})
    domains = {**DOMAINS, **{name: adapt_class(owner) for name, owner in scene.classes.items()}}
    return Environments(
        {
            name: domains[name](scene.config.get(name, {}), world, long_context=entry.category.long_context)
            for name in scene.domains
        },
        world,
        long_context=entry.category.long_context,
    )

"""What calls act on: eight API domains, three memories, the web; each a small class without global state."""

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
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.memory.kv import MemoryKv
from pytest_fcbench.environments.memory.rec_sum import MemoryRecSum
from pytest_fcbench.environments.memory.vector import MemoryVector
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.environments.world import World

OWN: dict[str, type[Environment]] = {}
"""Classes that a team brings, by ``module:Class``; put here when a suite is read that names them."""

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


def domain(name: str) -> type[Environment]:
    """The class of a domain. Raises KeyError."""
    return OWN[name] if name in OWN else DOMAINS[name]


def opened(entry: Entry, world: World) -> Environments:
    """Fresh environments of an entry in their initial state; none where its calls are only read."""
    scene = entry.scene or Scene((), {})
    return Environments(
        {
            name: domain(name)(scene.config.get(name, {}), world, long_context=entry.category.long_context)
            for name in scene.domains
        }
    )

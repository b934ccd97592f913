"""Control of Python's garbage collector where it takes long and finds no garbage."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Python's own are (700, 10, 10): a collection after every 700 objects that are created and not yet freed.
_THRESHOLDS = (50_000, 20, 1_000)


class CollectorSwitch:
    """A switch: between ``calm`` and ``restore`` the collector runs rarely.

    A run holds hundreds of thousands of objects for its items. Looking through them again and again takes a
    sixth of its time; litellm makes garbage so fast that it happens several times a second.
    """

    def __init__(self) -> None:
        self._old_thresholds: tuple[int, int, int] | None = None
        self._has_frozen = False

    def calm(self) -> None:
        """Collect rarely; a second call does nothing."""
        if self._old_thresholds is None:
            self._old_thresholds = gc.get_threshold()
            # No gc.freeze(): it hides objects from what asks who refers to them, as hypothesis does.
            gc.set_threshold(*_THRESHOLDS)
            # Python looks through all objects several times before it exits: a tenth of a run.
            atexit.register(gc.freeze)

    def skip_objects(self) -> None:
        """Leave the objects of a run that has ended out of all collections before ``restore``."""
        if self._old_thresholds is not None:
            gc.freeze()
            self._has_frozen = True

    def restore(self) -> None:
        """Collect as before ``calm``."""
        if self._old_thresholds is not None:
            if self._has_frozen:
                gc.unfreeze()
            gc.set_threshold(*self._old_thresholds)
            self._old_thresholds, self._has_frozen = None, False


@contextmanager
def pause_collector() -> Iterator[None]:
    """Keep the garbage collector of the whole process from running by itself."""
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()

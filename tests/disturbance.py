"""A garbage collector that gets in the way of parsing, as finalizers of a busy process do by chance."""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def disturb_parsing(*, by_parsing: bool) -> Iterator[None]:
    """Collect garbage all the time, and at each collection parse in this thread or let others go on."""

    def disturb_collection(phase: str, info: Mapping[str, int]) -> None:
        if by_parsing:
            ast.parse("f(x=1)", mode="eval")
        else:
            time.sleep(0)  # other threads get the interpreter

    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(disturb_collection)
    gc.set_threshold(10)
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        gc.callbacks.remove(disturb_collection)
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)


def repeat_in_threads(do: Callable[[], T], *, threads: int = 4, seconds: float = 1.0) -> list[T]:
    """Do something again and again in several threads at once; raise what any of them raised."""
    end = time.monotonic() + seconds

    def repeat_until_end() -> list[T]:
        found = [do()]
        while time.monotonic() < end:
            found.append(do())
        return found

    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(repeat_until_end) for _ in range(threads)]
        return [result for future in waiting for result in future.result()]

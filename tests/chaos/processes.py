"""Processes of runs that something happens to."""

from __future__ import annotations

import os
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil


def find_group(number: int) -> list[psutil.Process]:
    """Find the processes of a group that have not ended."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == number and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (OSError, psutil.NoSuchProcess):
            continue
    return found


def watch_memory(process: subprocess.Popen[bytes], patience_s: float = 600.0) -> int:
    """Wait for the end of a process, or for so long, and return the bytes of its largest size.

    What the system tells of a process that has ended includes the size of the one that started it.
    """
    peak, until = 0, time.monotonic() + patience_s
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            found = re.search(r"VmHWM:\s+(\d+) kB", status)
            peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.02)
    return peak

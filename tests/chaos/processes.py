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
        peak = max(peak, read_peak(process.pid))
        time.sleep(0.02)
    return peak


def read_peak(number: int) -> int:
    """Return the bytes of the largest size that a process has had; 0 where it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{number}/status").read_text(encoding="utf-8")
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            return int(found[1]) * 1024
    return 0

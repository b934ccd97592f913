"""Confinement of a process by the Linux kernel: without files, network and other processes.

A filter of system calls (seccomp(2), in this form since Linux 4.14) leaves what computing needs: memory,
clocks, random numbers, and the descriptors that are open. No call that takes a path or an address is on its
list, nor one that makes, reaches or signals a process, so it suffices alone. Where Landlock (landlock(7),
since 5.13) is there too, its rules refuse every path, and ptrace. Both last as long as the process, also for
root.

The numbers are those of the kernel's headers ``unistd.h``, ``seccomp.h``, ``audit.h``, ``filter.h``,
``landlock.h`` and ``prctl.h``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Sequence

_PROCESSORS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# The numbers of a system call on each of these processors; 0 where it has none and another does the same.
_CALLS = {
    "read": (0, 63),
    "write": (1, 64),
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "close": (3, 57),
    "fstat": (5, 80),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "sched_yield": (24, 124),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, 0),
    "restart_syscall": (219, 128),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
_PRCTL = (157, 167)
_SECCOMP = (317, 277)
_LANDLOCK_CREATE_RULESET = (444, 444)
_LANDLOCK_RESTRICT_SELF = (446, 446)

_SET_FILTER, _GET_ACTION_AVAIL = 1, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
"""Actions of a filter; the second is added to the error that the process gets."""
_SET_PARENT_DEATH_SIGNAL, _SET_NO_NEW_PRIVILEGES = 1, 38
_LOAD, _SKIP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06


def find_missing() -> str:
    """Return what this system lacks to confine a process; empty where it lacks nothing."""
    if not sys.platform.startswith("linux"):
        return "filters of system calls, which only Linux has"
    machine = platform.machine()
    if machine not in _PROCESSORS or sys.maxsize < 2**32:
        return (
            f"filters of system calls that fit a Python of {sys.maxsize.bit_length() + 1} bits on {machine}"
        )
    if _call_kernel(_SECCOMP, _GET_ACTION_AVAIL, 0, struct.pack("I", REFUSE)) < 0:
        return f"filters of system calls (seccomp: {os.strerror(ctypes.get_errno())})"
    return ""


def confine_process() -> None:
    """Confine this process, which must have one thread, for the rest of its life. Raises OSError."""
    _call_kernel(_PRCTL, _SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    _call_kernel(_PRCTL, _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if (version := _call_kernel(_LANDLOCK_CREATE_RULESET, None, 0, 1)) > 0:
        # A ruleset that handles every right of its version and gives none of them.
        files = 2 ** (13 + min(version - 1, 2) + (version > 4)) - 1
        rights = struct.pack("QQQ", files, 0b11, 0b11)[: 8 if version < 4 else 16 if version < 6 else 24]
        ruleset = _call_kernel(_LANDLOCK_CREATE_RULESET, rights, len(rights), 0)
        if _call_kernel(_LANDLOCK_RESTRICT_SELF, ruleset, 0) < 0:
            raise OSError(ctypes.get_errno(), "Landlock refuses its rules")
        os.close(ruleset)
    install_filter(list(_CALLS.values()), ALLOW, REFUSE | errno.EPERM)


def install_filter(calls: Sequence[tuple[int, int]], listed_action: int, other_action: int) -> None:
    """Give system calls one action and all others another, in this thread and what it starts.

    Needs root or a process that can get no new privileges. Raises OSError.
    """
    processor = _find_processor()
    numbers = [call[processor] for call in calls if any(call)]
    program = [
        # The calls of another processor, which this one may know too, have other numbers.
        (_LOAD, 0, 0, 4),
        (_SKIP_IF_EQUAL, 1, 0, list(_PROCESSORS.values())[processor]),
        (_RETURN, 0, 0, REFUSE | errno.EPERM),
        (_LOAD, 0, 0, 0),
        *((_SKIP_IF_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)),
        (_RETURN, 0, 0, other_action),
        (_RETURN, 0, 0, listed_action),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    header = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code))
    if _call_kernel(_SECCOMP, _SET_FILTER, 0, header) < 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses the filter of system calls")


def _find_processor() -> int:
    return list(_PROCESSORS).index(platform.machine())


def _call_kernel(call: tuple[int, int], *arguments: int | bytes | None) -> int:
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    words = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    answer: int = syscall(ctypes.c_long(call[_find_processor()]), *words)
    return answer

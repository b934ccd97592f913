"""Functions that do what a model asks for, as a careless team might write them, and hostile calls of them.

Each returns only where it got through. Their folder, victim and listeners belong to the test that calls them.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH107, PTH115, PTH116, PTH123, PTH208 - what the kernel sees
from __future__ import annotations

import ctypes
import errno
import importlib
import json
import marshal
import mmap
import multiprocessing
import os
import platform
import re
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pytest_fcbench.execution import formulas
from pytest_fcbench.execution.sandbox.confinement import _CALLS

# Numbers of system calls that Python has no function for, on both processors.
_NUMBERS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "openat2": (437, 437),
    "name_to_handle_at": (303, 264),
    "mount": (165, 40),
    "unshare": (272, 97),
    "io_uring_setup": (425, 425),
    "clone3": (435, 435),
    "bpf": (321, 280),
    "fsopen": (430, 430),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "prctl": (157, 167),
    "shmget": (29, 194),
    "inotify_init1": (294, 26),
    "personality": (135, 92),
}
# Arguments with which these succeed where nothing refuses them, and harm nothing.
_STATES: Mapping[str, tuple[int, ...]] = {
    "userfaultfd": (1,),
    "keyctl": (0, -3, 1),
    "prctl": (4, 1, 0, 0, 0),
    "shmget": (0, 4096, 0o1600),
    "inotify_init1": (0,),
    "personality": (0xFFFFFFFF,),
}


def call_kernel(name: str, *arguments: object) -> int:
    """Make a system call of the model's choice. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(_NUMBERS[name][platform.machine() == "aarch64"], *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno(), "?"))
    return int(answer)


def free_descriptors() -> None:
    """Make room for files, where only the number of descriptors is limited."""
    os.closerange(0, 3)


# Files


def delete_note(path: str) -> str:
    """Delete a note."""
    os.remove(path)
    return "reached"


def rename_note(path: str, name: str) -> str:
    """Give a note another name."""
    os.rename(path, name)
    return "reached"


def make_folder(path: str) -> str:
    """Make a folder."""
    os.mkdir(path)
    return "reached"


def delete_folder(path: str) -> str:
    """Delete an empty folder."""
    os.rmdir(path)
    return "reached"


def delete_tree(path: str) -> str:
    """Delete a folder with all it holds."""
    free_descriptors()
    shutil.rmtree(path)
    return "reached"


def link_note(path: str, name: str, soft: bool) -> str:
    """Give a note a second name."""
    (os.symlink if soft else os.link)(path, name)
    return "reached"


def change_mode(path: str, mode: int) -> str:
    """Change who may read a note."""
    os.chmod(path, mode)
    return "reached"


def change_owner(path: str) -> str:
    """Change whose note it is to the same."""
    os.chown(path, os.geteuid(), -1)
    return "reached"


def shorten_note(path: str, size: int) -> str:
    """Shorten a note."""
    os.truncate(path, size)
    return "reached"


def date_note(path: str, seconds: int) -> str:
    """Change the date of a note."""
    os.utime(path, (seconds, seconds))
    return "reached"


def make_pipe(path: str) -> str:
    """Make a named pipe."""
    os.mkfifo(path)
    return "reached"


def label_note(path: str, label: str) -> str:
    """Give a note a label."""
    os.setxattr(path, "user.label", label.encode())
    return "reached"


def read_note(path: str, free: bool) -> str:
    """Read a note."""
    if free:
        free_descriptors()
    return "reached " + Path(path).read_bytes().decode(errors="replace")


def write_note(path: str, text: str, free: bool, mode: str = "w") -> str:
    """Write a note."""
    if free:
        free_descriptors()
    with open(path, mode) as opened:
        opened.write(text)
    return "reached"


def list_notes(path: str) -> str:
    """List notes."""
    free_descriptors()
    return f"reached {os.listdir(path)}"


def measure_note(path: str) -> str:
    """Measure a note."""
    return f"reached {os.stat(path).st_size}"


def find_target(path: str) -> str:
    """Tell what a link points to."""
    return "reached " + os.readlink(path)


def change_folder(path: str, root: bool) -> str:
    """Work in another folder, or see nothing else."""
    (os.chroot if root else os.chdir)(path)
    return "reached"


def keep_rows(path: str) -> str:
    """Keep rows in a database."""
    free_descriptors()
    with sqlite3.connect(path) as database:
        database.execute("create table t (a)")
    return "reached"


def map_note(path: str) -> str:
    """Change a note in memory."""
    free_descriptors()
    with mmap.mmap(os.open(path, os.O_RDWR), 4) as mapped:
        mapped[:4] = b"gone"
    return "reached"


def read_by_number(path: str) -> str:
    """Read a note by calls that Python does not make."""
    free_descriptors()
    descriptor = call_kernel("openat2", -100, path.encode(), struct.pack("QQQ", 0, 0, 0), ctypes.c_long(24))
    return "reached " + os.read(descriptor, 100).decode()


def find_handle(path: str) -> str:
    """Ask for the handle by which root opens a file."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    call_kernel("name_to_handle_at", -100, path.encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    return "reached"


def mount_folder(path: str) -> str:
    """Mount a file system in memory."""
    call_kernel("mount", b"none", path.encode(), b"tmpfs", ctypes.c_long(0), None)
    return "reached"


def load_part(folder: str, name: str) -> str:
    """Load a part of the program."""
    free_descriptors()
    sys.path.insert(0, folder)
    return f"reached {importlib.import_module(name)}"


# Processes


def stop_process(pid: int, group: bool = False) -> str:
    """Stop a process."""
    (os.killpg if group else os.kill)(pid, signal.SIGKILL)
    return "reached"


def stop_parent() -> str:
    """Stop the process that started this one."""
    os.kill(os.getppid(), signal.SIGKILL)
    return "reached"


def stop_by_descriptor(pid: int) -> str:
    """Stop a process without its number."""
    free_descriptors()
    call_kernel("pidfd_send_signal", call_kernel("pidfd_open", pid, 0), int(signal.SIGKILL), None, 0)
    return "reached"


def trace_process(pid: int) -> str:
    """Look into a process."""
    call_kernel("ptrace", 16, pid, None, None)
    return "reached"


def seize_process(pid: int) -> str:
    """Look into a process without stopping it."""
    call_kernel("ptrace", 0x4206, ctypes.c_long(pid), ctypes.c_long(0), ctypes.c_long(0))
    return "reached"


def read_memory(pid: int) -> str:
    """Read the memory of a process."""
    free_descriptors()
    line = next(line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "stack" in line)
    buffer = ctypes.create_string_buffer(8)
    here = struct.pack("QQ", ctypes.addressof(buffer), 8)
    there = struct.pack("QQ", int(line.partition("-")[0], 16), 8)
    call_kernel("process_vm_readv", pid, here, ctypes.c_long(1), there, ctypes.c_long(1), ctypes.c_long(0))
    return "reached"


def run_program(path: str) -> str:
    """Run a program that makes a file."""
    subprocess.run(["/bin/touch", path], check=True, close_fds=False)
    return "reached"


def spawn_program(path: str) -> str:
    """Run a program that makes a file, with one call."""
    os.waitpid(os.posix_spawn("/bin/touch", ["touch", path], {}), 0)
    return "reached"


def become_program(path: str) -> str:
    """Turn into a program that makes a file."""
    os.execv("/bin/touch", ["touch", path])


def work_beside(leave: bool) -> str:
    """Go on in another process."""
    if os.fork() == 0:
        if leave:
            os.setsid()
        time.sleep(60)
        os._exit(0)
    return "reached"


def clone_process() -> str:
    """Make a process by the newest call."""
    if call_kernel("clone3", struct.pack("QQQQQQQQ", 0, 0, 0, 0, 17, 0, 0, 0), ctypes.c_long(64)) == 0:
        time.sleep(60)
        os._exit(0)
    return "reached"


def work_in_parallel() -> str:
    """Go on in a process of Python's own making."""
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    return "reached"


def slow_process(pid: int) -> str:
    """Give a process the lowest priority."""
    os.setpriority(os.PRIO_PROCESS, pid, 19)
    return "reached"


def limit_process(pid: int) -> str:
    """Limit a process."""
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8))
    return "reached"


def leave_namespace() -> str:
    """Become root of a namespace of one's own."""
    call_kernel("unshare", 0x10000000)
    return "reached"


def load_into_kernel() -> str:
    """Make a map in the kernel."""
    free_descriptors()
    call_kernel("bpf", 0, struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100), ctypes.c_long(120))
    return "reached"


def queue_calls() -> str:
    """Let the kernel make calls from a queue, which no filter sees."""
    free_descriptors()
    call_kernel("io_uring_setup", ctypes.c_long(1), ctypes.create_string_buffer(256))
    return "reached"


def call_by_numbers(also: int) -> str:
    """Make each system call that the confinement does not list, the numbers changed by a bit of x32."""
    processor = platform.machine() == "aarch64"
    listed = set() if also else {numbers[processor] for numbers in _CALLS.values()}
    if os.getppid() != -1:
        raise RuntimeError("nobody may make them where nothing refuses them")
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    zeros = [ctypes.c_long(0)] * 6
    made = []
    # Those of probes end whoever makes them, before any filter sees them.
    for number in {*range(600)} - {335, 336} - listed:
        if syscall(ctypes.c_long(number | also), *zeros) >= 0 or ctypes.get_errno() != errno.EPERM:
            made.append(number)
    return f"reached {made}" if made else "all were refused"


def call_as_another_processor(number: int) -> str:
    """Make a system call of 32 bits by machine code: getppid, which never fails."""
    code = b"\x53\xb8" + struct.pack("<I", number) + b"\xcd\x80\x5b\xc3"
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return f"reached {answer}" if (answer := call()) > 0 else f"refused: {answer}"


def work_in_threads() -> str:
    """Start a thread, which would outlive the limit of processor time of the first."""
    thread = threading.Thread(target=time.sleep, args=(0,))
    thread.start()
    return "reached"


def set_own_state(call: str) -> str:
    """Change what the kernel keeps of a process, or make something that outlives it."""
    free_descriptors()
    call_kernel(call, *[ctypes.c_long(number) for number in _STATES[call]])
    return "reached"


def find_variable(name: str) -> str:
    """Return a variable of the run."""
    return f"reached {os.environ[name]}"


def write_everywhere(text: str) -> str:
    """Write to all descriptors that belong to no call, then read from them."""
    held = []
    for descriptor in {*range(64)} - {3}:
        with suppress(OSError):
            os.write(descriptor, text.encode())
            held += [os.read(descriptor, 10)]
    return "reached" if any(held) else "nothing was there"


# Network


def connect(port: int) -> str:
    """Connect to a server."""
    free_descriptors()
    socket.create_connection(("127.0.0.1", port), 2).close()
    return "reached"


def send_datagram(port: int) -> str:
    """Send a datagram."""
    free_descriptors()
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
    return "reached"


def connect_locally(name: str) -> str:
    """Connect to a server on this machine."""
    free_descriptors()
    socket.socket(socket.AF_UNIX).connect("\0" + name)
    return "reached"


def listen() -> str:
    """Wait for clients."""
    free_descriptors()
    socket.create_server(("127.0.0.1", 0))
    return "reached"


def find_routes() -> str:
    """Ask the kernel about its network."""
    free_descriptors()
    socket.socket(16, socket.SOCK_RAW, 0)
    return "reached"


def resolve_name(name: str) -> str:
    """Look a name up."""
    free_descriptors()
    return f"reached {socket.getaddrinfo(name, 80)}"


# The connection to the run, and limits


def write_frames(descriptor: int, form: str) -> int:
    """Write results of one's own: to this call and the next."""
    values = ("returned", 666)
    frame = {
        "marshal": marshal.dumps(values),
        "json": json.dumps(["", *values]).encode(),
        "guess": json.dumps(["0" * 32, *values]).encode(),
    }[form]
    for _ in range(2):
        os.write(descriptor, len(frame).to_bytes(4, "big") + frame)
    return 1


def begin_frame(descriptor: int, size: int) -> int:
    """Announce a frame and send none of it."""
    os.write(descriptor, size.to_bytes(4, "big"))
    time.sleep(60)
    return 1


def write_noise(descriptor: int, size: int) -> int:
    """Write without end."""
    while True:
        os.write(descriptor, b"\xff" * size)


def read_connection(descriptor: int) -> str:
    """Read what the run sends."""
    return f"reached {os.read(descriptor, 100)!r}"


def close_connection(descriptor: int, seconds: float) -> int:
    """Close a descriptor and wait."""
    os.close(descriptor)
    time.sleep(seconds)
    return 1


def send_own_answer(value: int, seconds: float) -> int:
    """Take the key from the program's memory, answer twice and stay."""
    frame = sys._getframe()
    while "run" not in frame.f_locals:
        assert frame.f_back
        frame = frame.f_back
    for _ in range(2):
        frame.f_locals["run"].send("returned", value)
    time.sleep(seconds)
    return 1


def replace_functions() -> int:
    """Change what other functions return, in this process."""
    assert isinstance(formulas.FORMULAS, dict)
    formulas.FORMULAS["math_gcd"] = lambda a, b: 666
    return 1


def wait(seconds: float) -> int:
    """Wait."""
    time.sleep(seconds)
    return 1


def compute_on(way: str) -> int:
    """Compute without end, after the limit of time was taken away."""
    if way == "ignore":
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
    if way == "block":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
    if way == "disarm":
        signal.setitimer(signal.ITIMER_PROF, 0)
    if way == "in C":
        re.match("(a+)+$", "a" * 60 + "b")
    while True:
        pass


def recurse_in_c(depth: int) -> int:
    """Use up the stack where Python does not count."""
    value: object = ()
    for _ in range(depth):
        value = (value,)
    return hash(value)


class _OddError(Exception):
    """An error, and a value, that fails whoever looks at it."""

    def __str__(self) -> str:
        raise SystemExit(0)

    __repr__ = __len__ = __iter__ = __hash__ = __str__  # type: ignore[assignment]


def fail_oddly(way: str) -> object:
    """Raise, or return, what makes its reader fail."""
    if way == "hook":
        sys.addaudithook(lambda *_: os.close(3))
        sys.setprofile(lambda *_: sys.exit(0))
    if way == "returned":
        return _OddError()
    raise {"error": _OddError(), "base": BaseExceptionGroup("x", [KeyboardInterrupt()])}.get(
        way, ValueError()
    )


def map_memory(size: int) -> int:
    """Map memory piece by piece, which no table of Python counts."""
    pages = []
    while True:
        pages.append(mmap.mmap(-1, size))


def take_memory(size: int, raise_limit: bool) -> int:
    """Take memory, after the limit was taken away."""
    if raise_limit:
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    return len(bytearray(size))


def end_oddly(way: str) -> int:
    """End in another way than by returning."""
    if way == "exit":
        sys.exit(0)
    if way == "abort":
        os.abort()
    if way == "segfault":
        ctypes.string_at(0)
    os._exit(0)


def return_much(kind: str, size: int) -> object:
    """Return what costs whoever reads it."""
    value: object = []
    if kind == "colliding":
        return {number * (2**61 - 1): 0 for number in range(size)}
    if kind == "lists":
        return [[] for _ in range(size)]
    if kind == "text":
        return "x" * size
    for _ in range(size):
        value = [value]
    return value


def ask_api(size: int) -> str:
    """Ask for the answer of a web API in odd words."""
    frame = sys._getframe()
    while "run" not in frame.f_locals:
        assert frame.f_back
        frame = frame.f_back
    run = frame.f_locals["run"]
    for _ in range(size):
        run.send("ask", "get_movie_rating", {"movie_name": [[[]]], "__class__": 1})
        run.receive()
    run.send("ask", "no_such_function", {})
    time.sleep(60)
    return "reached"


HOSTILE_CALLS: Mapping[str, str] = {
    "delete a file": "delete_note(path={note!r})",
    "rename a file": "rename_note(path={note!r}, name={new!r})",
    "make a folder": "make_folder(path={new!r})",
    "delete a folder": "delete_folder(path={empty!r})",
    "delete a tree": "delete_tree(path={folder!r})",
    "make a symbolic link": "link_note(path={note!r}, name={new!r}, soft=True)",
    "make a hard link": "link_note(path={note!r}, name={new!r}, soft=False)",
    "change the mode of a file": "change_mode(path={note!r}, mode=0)",
    "change the owner of a file": "change_owner(path={note!r})",
    "shorten a file": "shorten_note(path={note!r}, size=0)",
    "change the times of a file": "date_note(path={note!r}, seconds=0)",
    "make a named pipe": "make_pipe(path={new!r})",
    "set an attribute of a file": "label_note(path={note!r}, label='x')",
    "read a file": "read_note(path={note!r}, free=False)",
    "read a file with a freed descriptor": "read_note(path={note!r}, free=True)",
    "read the variables of the run": "read_note(path='/proc/{run}/environ', free=True)",
    "read the command of the run": "read_note(path='/proc/{run}/cmdline', free=True)",
    "read its own variables": "read_note(path='/proc/self/environ', free=True)",
    "read a secret of another process": "read_note(path='/proc/{victim}/environ', free=True)",
    "write a file": "write_note(path={new!r}, text='x', free=True)",
    "make an empty file": "write_note(path={new!r}, text='', free=True)",
    "append to a file": "write_note(path={note!r}, text='', free=True, mode='a')",
    "empty a file": "write_note(path={note!r}, text='', free=True)",
    "list a folder": "list_notes(path={folder!r})",
    "measure a file": "measure_note(path={note!r})",
    "read a link": "find_target(path={link!r})",
    "change the folder": "change_folder(path={folder!r}, root=False)",
    "change the root": "change_folder(path={folder!r}, root=True)",
    "make a database": "keep_rows(path={new!r})",
    "map a file": "map_note(path={note!r})",
    "open by openat2": "read_by_number(path={note!r})",
    "open by handle": "find_handle(path={note!r})",
    "mount a file system": "mount_folder(path={empty!r})",
    "import a file": "load_part(folder={folder!r}, name='part')",
    "kill a process": "stop_process(pid={victim})",
    "kill a group": "stop_process(pid={victim}, group=True)",
    "kill its parent": "stop_parent()",
    "kill by a descriptor": "stop_by_descriptor(pid={victim})",
    "trace a process": "trace_process(pid={victim})",
    "seize a process": "seize_process(pid={victim})",
    "read the memory of a process": "read_memory(pid={victim})",
    "run a program": "run_program(path={new!r})",
    "spawn a program": "spawn_program(path={new!r})",
    "become a program": "become_program(path={new!r})",
    "fork": "work_beside(leave=False)",
    "fork into a session": "work_beside(leave=True)",
    "clone": "clone_process()",
    "fork by multiprocessing": "work_in_parallel()",
    "slow a process": "slow_process(pid={victim})",
    "limit a process": "limit_process(pid={victim})",
    "leave the namespace": "leave_namespace()",
    "make a map of the kernel": "load_into_kernel()",
    "queue calls by io_uring": "queue_calls()",
    "make all other system calls": "call_by_numbers(also=0)",
    "make all system calls of x32": "call_by_numbers(also=1073741824)",
    "call as a processor of 32 bits": "call_as_another_processor(number=64)",
    "start a thread": "work_in_threads()",
    **{f"call {each}": f"set_own_state(call={each!r})" for each in (*_STATES,)},
    "look for a variable": "find_variable(name='OPENAI_API_KEY')",
    "use the other descriptors": "write_everywhere(text='x')",
    "connect by TCP": "connect(port={port})",
    "send by UDP": "send_datagram(port={port})",
    "connect to an abstract socket": "connect_locally(name={name!r})",
    "listen": "listen()",
    "open netlink": "find_routes()",
    "resolve a name": "resolve_name(name='localhost')",
    "write two marshal frames": "write_frames(descriptor=3, form='marshal')",
    "write two frames without a key": "write_frames(descriptor=3, form='json')",
    "write two frames with a guess": "write_frames(descriptor=3, form='guess')",
    "begin a frame": "begin_frame(descriptor=3, size=1000)",
    "begin an endless frame": "begin_frame(descriptor=3, size=4294967295)",
    "write noise": "write_noise(descriptor=3, size=65536)",
    "read the connection": "read_connection(descriptor=3)",
    "close the connection": "close_connection(descriptor=3, seconds=0)",
    "close the connection and wait": "close_connection(descriptor=3, seconds=60)",
    "answer with the stolen key and stay": "send_own_answer(value=666, seconds=60)",
    "replace functions": "replace_functions()",
    "sleep": "wait(seconds=60)",
    "compute": "compute_on(way='')",
    "compute and ignore the signal": "compute_on(way='ignore')",
    "compute and block the signal": "compute_on(way='block')",
    "compute without the timer": "compute_on(way='disarm')",
    "compute in C": "compute_on(way='in C')",
    "use up the stack": "recurse_in_c(depth=10000000)",
    "map memory": "map_memory(size=1000000)",
    **{f"fail oddly: {each}": f"fail_oddly(way={each!r})" for each in ("error", "base", "returned", "hook")},
    "take memory": "take_memory(size=2000000000, raise_limit=False)",
    "take memory without the limit": "take_memory(size=2000000000, raise_limit=True)",
    "exit": "end_oddly(way='exit')",
    "exit at once": "end_oddly(way='_exit')",
    "abort": "end_oddly(way='abort')",
    "segfault": "end_oddly(way='segfault')",
    "return colliding keys": "return_much(kind='colliding', size=20000)",
    "return many lists": "return_much(kind='lists', size=3000000)",
    "return a long text": "return_much(kind='text', size=100000000)",
    "return a deep list": "return_much(kind='deep', size=100000)",
    "ask odd questions": "ask_api(size=100)",
}
"""The calls by what they attempt; what is in braces belongs to the test."""

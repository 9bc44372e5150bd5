# SPDX-License-Identifier: BSL-1.0
"""The memory of idle connections: that of the server's process, and that of the kernel."""
import contextlib
import re
import socket

from .errors import RunError
from .machine import read_text
from .text import grouped

MESSAGE, TIMEOUT_S = b"12345678", 10.0
OF_PROCESS = {"bytes_per_connection": "RssAnon", "segment_bytes_per_connection": "RssShmem",
              "page_table_bytes_per_connection": "VmPTE"}


def memory(pid: int) -> dict[str, int]:
    """Bytes by key of a result. The kernel's objects are those of the whole machine."""
    process, machine = read_text(f"/proc/{pid}/status"), read_text("/proc/meminfo")

    def size(text: str, name: str) -> int:
        found = re.search(rf"^{name}:\s*(\d+) kB$", text, re.MULTILINE)
        if not found:
            raise RunError(f"the kernel does not say {name}")
        return int(found[1]) * 1024
    return {key: size(process, name) for key, name in OF_PROCESS.items()} | {"slab_bytes_per_connection": size(machine, "Slab")}


def open_connection(transport: str, address: str, path: str) -> socket.socket:
    """Returns a connection that the server has opened, too. Over shared memory the server's first message says so, which has
    the segment's file; it is closed here, so that only the server has mapped the segment. Over a socket an echo says so."""
    if transport == "tcp":
        host, _, port = address.rpartition(":")
        out = socket.create_connection((host, int(port)), TIMEOUT_S)
    else:
        out = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        out.settimeout(TIMEOUT_S)
        out.connect(path + ".shm" * (transport == "shm"))
    if transport != "shm":
        out.sendall(MESSAGE)
    if not out.recv(64):                # without room for descriptors, the kernel closes them
        raise RunError("the server has closed an idle connection")
    return out


def idle_figures(pid: int, transport: str, address: str, path: str, connections: int) -> dict[str, float]:
    """Returns what a connection costs. The first one is not counted, since it allocates what all share."""
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(open_connection(transport, address, path))
            before = memory(pid)
            for _ in range(connections):
                stack.enter_context(open_connection(transport, address, path))
            after = memory(pid)
    except OSError as error:
        raise RunError(f"cannot open {grouped(connections)} connections over {transport}: {error}") from error
    return {key: (after[key] - before[key]) / connections for key in before}

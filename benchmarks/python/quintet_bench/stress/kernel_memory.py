# SPDX-License-Identifier: BSL-1.0
"""What the kernel holds for the TCP connections of this machine, by /proc/slabinfo and /proc/net/sockstat."""
import math
import os
import re

from ..machine import read_text

SLABINFO, SOCKSTAT = "/proc/slabinfo", "/proc/net/sockstat"
# A socket, its file, and its entries in epoll sets. A kernel may merge caches of equal size; such a one is not listed.
CACHES = ("TCP", "TCPv6", "sock_inode_cache", "dentry", "filp", "eventpoll_epi", "eventpoll_pwq")


def tcp_memory(slabinfo: str, sockstat: str) -> float:
    """The bytes of active objects and of socket buffers; NaN: the kernel does not tell."""
    rows = [line.split() for line in slabinfo.splitlines()]
    objects = {row[0]: int(row[1]) * int(row[3]) for row in rows if row and row[0] in CACHES}
    pages = re.search(r"^TCP: .*\bmem (\d+)", sockstat, re.MULTILINE)
    return float(sum(objects.values()) + int(pages[1]) * os.sysconf("SC_PAGE_SIZE")) if "TCP" in objects and pages else math.nan


def read_tcp_memory() -> float:
    return tcp_memory(read_text(SLABINFO), read_text(SOCKSTAT))


def obstacle(path: str = SLABINFO) -> str:
    """Why the memory is not known."""
    try:
        with open(path, encoding="ascii") as file:
            return f"{path} has no cache TCP" if "\nTCP " not in file.read() else f"{SOCKSTAT} has no line of TCP"
    except PermissionError:
        return f"{path}: only root may read it"
    except OSError as error:
        return f"{path}: {error.strerror}"

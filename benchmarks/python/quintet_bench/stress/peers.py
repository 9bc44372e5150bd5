# SPDX-License-Identifier: BSL-1.0
"""Very many connections, opened, asked on and watched without blocking."""
import contextlib
import math
import re
import select
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import managers
from typing import Any, NamedTuple

from ..errors import UsageError

AT_ONCE = 256                       # connects in progress: a listener has a backlog, and a dropped SYN costs a second
BIND_ADDRESS_NO_PORT = 24           # of Linux


class Target(NamedTuple):
    family: int
    address: Any
    is_loopback: bool


def resolve(text: str) -> Target:
    found = re.fullmatch(r"\[?(.+?)\]?:(\d{1,5})", text)
    if not found or not 1 <= int(found[2]) <= 65535:
        raise UsageError(f'"{text}" is not HOST:PORT, such as 127.0.0.1:7007 (port 1 to 65535)')
    try:
        family, *_, address = socket.getaddrinfo(found[1], int(found[2]), type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f'cannot find the host of "{text}": {error.strerror}') from error
    return Target(family, address, address[0] == "::1" or str(address[0]).startswith("127."))


def open_socket(target: Target, source: int | None) -> socket.socket:
    """`source` selects one of 250 loopback addresses, so that a million peers of our server do not run out of ports."""
    sock = socket.socket(target.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets: no TIME_WAIT
    if source is not None:
        sock.setsockopt(socket.SOL_IP, BIND_ADDRESS_NO_PORT, 1)  # connect() knows both ends and chooses the port
        sock.bind((f"127.0.0.{2 + source % 250}", 0))
    return sock


def decided(fates: Counter[str]) -> bool:
    return not fates["connecting"] + fates["waiting"]


class Peer:
    def __init__(self, sock: socket.socket, number: int) -> None:
        self.sock, self.number, self.fate, self.sent = sock, number, "connecting", 0
        self.awaited: bytes | None = None   # its reply; None: any bytes will do
        self.connected_at = self.ended_at = 0.0

    def send(self, data: bytes) -> bool:
        """Sends what the socket takes at once. If that fails, the server has closed the connection, and epoll reports it."""
        with contextlib.suppress(OSError):
            self.sent += self.sock.send(data)
        return True

    def ask(self) -> bool:
        """Sends a request of --workload ask, which the server sends back."""
        self.awaited = struct.pack(">II56x", self.number, 0)
        return self.send(self.awaited)


class Peers:
    """Each acts when it is connected, and then after each interval. If act() returns False, it resets its connection.
    `fates` counts those connecting, waiting and answered, whose connections are open, and those refused, closed (by the
    server, even after the reply), wrong (in the reply) and left. Without `reads`, replies stay in the kernel. At most `most`
    are open; the others follow when there is room. With a higher `at_once`, some may be refused, or wait for a second."""

    def __init__(self, target: Target, numbers: range, act: Callable[[Peer], bool] = Peer.ask, *, reads: bool = True,
                 interval_s: float = 0, many_sources: bool = True, most: float = math.inf, at_once: float = AT_ONCE) -> None:
        self._target, self._many_sources, self._act, self._reads = target, many_sources, act, reads
        self._numbers, self._interval_s, self._most, self._at_once = numbers, interval_s, most, at_once
        self._scheduled = deque[tuple[float, Peer]]()
        self._epoll = select.epoll()
        self.open_ones: dict[int, Peer] = {}    # by descriptor
        self.fates: Counter[str] = Counter()

    def _set_fate(self, peer: Peer, fate: str) -> None:
        self.fates[peer.fate] -= 1
        self.fates[fate] += 1
        peer.fate = fate
        if fate not in ("waiting", "answered"):
            peer.ended_at = time.monotonic()
            del self.open_ones[peer.sock.fileno()]
            peer.sock.close()

    def begin(self, number: int) -> Peer:
        peer = Peer(open_socket(self._target, number if self._many_sources else None), number)
        self.open_ones[peer.sock.fileno()] = peer
        self.fates["connecting"] += 1
        self._epoll.register(peer.sock, select.EPOLLOUT)
        with contextlib.suppress(BlockingIOError):
            peer.sock.connect(self._target.address)
        return peer

    def poll(self, seconds: float) -> None:
        room = max(0, int(min(len(self._numbers), self._most - len(self.open_ones), self._at_once - self.fates["connecting"])))
        for number in self._numbers[:room]:
            self.begin(number)
        self._numbers = self._numbers[room:]
        if self._scheduled:
            seconds = min(seconds, max(0.0, self._scheduled[0][0] - time.monotonic()))
        for descriptor, _ in self._epoll.poll(min(seconds, 0.2), 4096):
            peer = self.open_ones[descriptor]
            if peer.fate != "connecting":
                self._receive(peer)
            elif peer.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self._set_fate(peer, "refused")
            else:
                self._set_fate(peer, "waiting")
                peer.connected_at = time.monotonic()
                self._epoll.modify(peer.sock, select.EPOLLIN if self._reads else select.EPOLLRDHUP)
                self._let_act(peer)
        now = time.monotonic()
        while self._scheduled and self._scheduled[0][0] <= now:
            if (peer := self._scheduled.popleft()[1]).fate == "waiting":
                self._let_act(peer)

    def _let_act(self, peer: Peer) -> None:
        if not self._act(peer):
            self._set_fate(peer, "left")
        elif self._interval_s:
            self._scheduled.append((time.monotonic() + self._interval_s, peer))

    def _receive(self, peer: Peer) -> None:
        data = b""
        with contextlib.suppress(OSError):  # a reset is a close, too
            data = peer.sock.recv(4096) if self._reads else b""
        if not data:
            self._set_fate(peer, "closed")
        elif peer.awaited is not None:
            is_reply = peer.fate == "waiting" and data == peer.awaited
            self._set_fate(peer, "answered" if is_reply else "wrong")

    def listen(self, seconds: float, done: Callable[[Counter[str]], bool] = lambda fates: False) -> Counter[str]:
        """Watches for so long, or until done(fates)."""
        end = time.monotonic() + seconds
        while not done(self.fates) and (left := end - time.monotonic()) > 0:
            self.poll(left)
        return self.fates

    def open(self) -> Counter[str]:
        """Begins all connections."""
        return self.listen(math.inf, lambda fates: not self._numbers)

    def leave(self) -> None:
        """The answered peers reset their connections."""
        for peer in [p for p in self.open_ones.values() if p.fate == "answered"]:
            self._set_fate(peer, "left")

    def reset(self) -> None:
        for peer in list(self.open_ones.values()):
            self._set_fate(peer, "left")
        self._epoll.close()


class Process(managers.BaseManager):
    """A process that has peers, which this one calls."""
    Peers: Callable[..., Any]


Process.register("Peers", Peers)


@contextlib.contextmanager
def crowd(target: Target, count: int, processes: int) -> Iterator[Callable[..., Counter[str]]]:
    """Peers divided among processes, since a table of descriptors is limited. Yields a function that calls a method of Peers
    in each process and adds up the fates."""
    with ThreadPoolExecutor(processes) as threads, contextlib.ExitStack() as ends:
        parts = [ends.enter_context(Process()).Peers(target, range(first, count, processes)) for first in range(processes)]

        def call(method: str, *arguments: Any) -> Counter[str]:
            return sum(threads.map(lambda part: getattr(part, method)(*arguments), parts), Counter())
        yield call

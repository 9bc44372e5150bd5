# SPDX-License-Identifier: BSL-1.0
"""Very many connections, opened, asked on and watched without blocking."""
import contextlib
import ctypes
import math
import os
import random
import re
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ..errors import RunError, UsageError

REQUEST_BYTES = 64
AT_ONCE = 256                       # connects in progress: a listener has a backlog, and a dropped SYN costs a second
BIND_ADDRESS_NO_PORT, CLONE_FILES = 24, 0x400       # Linux
BYTES = random.Random(1).randbytes(4096 + REQUEST_BYTES)


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


def open_socket(target: Target, number: int, flags: int = socket.SOCK_NONBLOCK) -> socket.socket:
    """Its source is one of 250 loopback addresses, so that a million peers do not run out of ports."""
    sock = socket.socket(target.family, socket.SOCK_STREAM | flags)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets: no TIME_WAIT
    if target.family == socket.AF_INET and target.is_loopback:
        sock.setsockopt(socket.SOL_IP, BIND_ADDRESS_NO_PORT, 1)  # connect() knows both ends and chooses the port
        sock.bind((f"127.0.0.{2 + number % 250}", 0))
    return sock


def request_of(number: int) -> bytes:
    """`serve --workload ask` sends it back."""
    return struct.pack(">II", number, 0) + BYTES[number % 4096:][:REQUEST_BYTES - 8]


def decided(fates: Counter[str]) -> bool:
    return not fates["connecting"] + fates["waiting"]


class Peer:
    def __init__(self, sock: socket.socket, number: int) -> None:
        self.sock, self.number, self.fate, self.sent, self.received = sock, number, "connecting", 0, b""
        self.changed_at = 0.0           # time of the last change of `fate`

    def send(self, data: bytes) -> bool:
        """Sends what the socket takes at once. If that fails, the server has closed the connection, and epoll reports it."""
        with contextlib.suppress(OSError):
            self.sent += self.sock.send(data)
        return True


class Peers:
    """Each sends a request when it is connected. `fates` counts those connecting, waiting and answered, whose connections
    are open, and those refused, closed (by the server, even after the reply), wrong (in the reply) and left. Without
    `reads`, replies stay in the kernel."""

    def __init__(self, target: Target, numbers: range, request: Callable[[int], bytes] = request_of,
                 reads: bool = True) -> None:
        self.target, self.numbers, self.request, self.reads = target, numbers, request, reads
        self.open_ones: dict[int, Peer] = {}    # by descriptor
        self.fates: Counter[str] = Counter()
        self.error, self.stopped, self.epoll = 0, False, select.epoll()

    def set_fate(self, peer: Peer, fate: str) -> None:
        self.fates[peer.fate] -= 1
        self.fates[fate] += 1
        peer.fate, peer.changed_at = fate, time.monotonic()
        if fate not in ("waiting", "answered"):
            del self.open_ones[peer.sock.fileno()]
            peer.sock.close()

    def begin(self, number: int) -> None:
        peer = Peer(open_socket(self.target, number), number)
        self.open_ones[peer.sock.fileno()] = peer
        self.fates["connecting"] += 1
        self.epoll.register(peer.sock, select.EPOLLOUT)
        with contextlib.suppress(BlockingIOError):
            peer.sock.connect(self.target.address)

    def poll(self, seconds: float) -> None:
        if self.stopped:  # by another thread
            raise RunError("stopped")
        for descriptor, _ in self.epoll.poll(min(seconds, 0.2), 4096):
            peer = self.open_ones[descriptor]
            if peer.fate != "connecting":
                self._receive(peer)
            elif error := peer.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.error = error
                self.set_fate(peer, "refused")
            else:
                self.set_fate(peer, "waiting")
                self.epoll.modify(peer.sock, select.EPOLLIN if self.reads else select.EPOLLRDHUP)
                self.connected(peer)

    def _receive(self, peer: Peer) -> None:
        try:
            data = peer.sock.recv(4096) if self.reads else b""
        except BlockingIOError:
            return
        except OSError:  # a reset is a close, too
            data = b""
        self.received(peer, data) if data else self.set_fate(peer, "closed")

    def connected(self, peer: Peer) -> None:
        peer.send(self.request(peer.number))

    def received(self, peer: Peer, data: bytes) -> None:
        peer.received += data
        if not self.request(peer.number).startswith(peer.received):
            self.set_fate(peer, "wrong")
        elif len(peer.received) == REQUEST_BYTES:
            self.set_fate(peer, "answered")

    def open(self, at_once: float = AT_ONCE) -> None:
        """With a higher `at_once`, it does not wait until all are connected, and some may be refused."""
        for number in self.numbers:
            self.begin(number)
            if len(self.open_ones) % 64 == 0:
                self.poll(0)
            self.listen(math.inf, lambda fates: fates["connecting"] < at_once)
        if at_once == AT_ONCE:
            self.listen(math.inf, lambda fates: not fates["connecting"])
            if self.fates["refused"]:
                raise RunError(f"a peer cannot connect: {os.strerror(self.error)}")

    def listen(self, seconds: float, done: Callable[[Counter[str]], bool] = lambda fates: False) -> Counter[str]:
        """Watches for so long, or until done(fates)."""
        end = time.monotonic() + seconds
        while not done(self.fates) and (left := end - time.monotonic()) > 0:
            self.poll(left)
        return self.fates

    def leave(self, count: int | None = None) -> None:
        """So many of the answered peers reset their connections."""
        for peer in [p for p in self.open_ones.values() if p.fate == "answered"][:count]:
            self.set_fate(peer, "left")

    def reset(self) -> None:
        for peer in list(self.open_ones.values()):
            self.set_fate(peer, "left")
        self.epoll.close()


def _peers_of_thread(own_table: bool, target: Target, numbers: range) -> Peers:
    if own_table and ctypes.CDLL(None).unshare(CLONE_FILES):
        raise RunError("the peers cannot have tables of descriptors of their own")
    return Peers(target, numbers)


@contextlib.contextmanager
def crowd(target: Target, count: int, threads: int, own_tables: bool) -> Iterator[Callable[..., Counter[str]]]:
    """Peers divided among threads, which may have tables of descriptors of their own. Yields a function that calls a
    method of Peers in each thread and adds up the fates."""
    workers = [ThreadPoolExecutor(1) for _ in range(threads)]
    groups = [worker.submit(_peers_of_thread, own_tables, target, range(first, count, threads)).result()
              for first, worker in enumerate(workers)]

    def call(method: str, *arguments: object) -> Counter[str]:
        for done in [worker.submit(getattr(peers, method), *arguments) for worker, peers in zip(workers, groups)]:
            done.result()
        return sum((peers.fates for peers in groups), Counter())
    try:
        yield call
    finally:
        for peers in groups:
            peers.stopped = True
        call("reset")  # each thread closes its own descriptors
        for worker in workers:
            worker.shutdown()

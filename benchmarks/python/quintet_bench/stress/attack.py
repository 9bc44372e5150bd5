# SPDX-License-Identifier: BSL-1.0
"""Hostile peers against any running server, beside an innocent client."""
import argparse
import contextlib
import http.client
import io
import math
import random
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .findings import Findings
from .peers import Peer, Peers

UNFINISHED_BYTES = 15_000           # so many bytes "x" may follow an unfinished request without completing it
LARGE = b"x" * 16_000


class Reply(io.RawIOBase):
    """What a server sends until a deadline, a time.monotonic(). Raises TimeoutError then, and EOFError at an earlier end."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline, self._received = sock, deadline, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(max(1e-6, self._deadline - time.monotonic()))
        size = self._sock.recv_into(buffer)
        if not size:
            raise EOFError(f"after {self._received} bytes of its reply" if self._received else "without a reply")
        self._received += size
        return size

    def makefile(self, mode: str = "rb") -> io.BufferedReader:
        return io.BufferedReader(self)


class Dialect(NamedTuple):
    request: Callable[[int], bytes]             # differs from number to number
    receive: Callable[[Reply, bytes], bool]     # takes the reply to this request; False: the server closes the connection now
    large_request: bytes                        # its reply is as long as the protocol offers
    unfinished_request: Callable[[int], bytes]  # the beginning of a request, to be followed by bytes "x"


def require(is_right: bool) -> None:
    if not is_right:
        raise ValueError("a wrong reply")


def receive_lines(reply: Reply, wanted: bytes) -> bool:
    lines = reply.makefile()
    require(all(lines.readline() == line for line in wanted.splitlines(keepends=True)))
    return True


def resp_echo(text: bytes) -> bytes:
    return b"*2\r\n$4\r\nECHO\r\n$%d\r\n%b\r\n" % (len(text), text)


def receive_resp(reply: Reply, request: bytes) -> bool:
    return receive_lines(reply, b"+PONG\r\n" if request.startswith(b"*1") else request[request.rfind(b"$"):])


def http_request(number: int) -> bytes:
    return b"GET /?%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number


def receive_http(reply: Reply, request: bytes) -> bool:
    """Accepts any status except the server's own failures."""
    response: Any = http.client.HTTPResponse(reply)  # type: ignore[arg-type]
    response.begin()
    while response.status < 200:  # informational: the final reply follows
        response.headers = None
        response.begin()
    try:
        response.read()
    except EOFError:
        if response.chunked or response.length is not None:
            raise
    require(response.status < 500)
    return not response.will_close


DIALECTS = {
    # A line, so that servers that echo lines work too.
    "echo": Dialect(lambda number: (b"request %d " % number).ljust(63, b"-") + b"\n", receive_lines, LARGE + b"\n",
                    lambda number: b"request %d " % number),
    # Every second request is a PING, because some servers have no ECHO.
    "resp": Dialect(lambda number: resp_echo(b"request %d" % number) if number % 2 else b"*1\r\n$4\r\nPING\r\n", receive_resp,
                    resp_echo(LARGE), lambda number: b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (UNFINISHED_BYTES + 1)),
    "http": Dialect(http_request, receive_http, b"".join(map(http_request, range(200))),
                    lambda number: http_request(number)[:-2] + b"X-Unfinished: "),
}


MOST_PEERS, MOST_VISITS_PER_PEER = 10_000, 50
MOST_BYTES = 8 << 20                # sent by one peer in one visit
RECOVERY_S = 5                      # time that a server may take to recover after an attack
INTERVAL_S = 0.02                   # of the innocent client's requests


def ask_and_never_read(peer: Peer, dialect: Dialect) -> bool:
    peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request, before = dialect.large_request, -1
    while before < peer.sent < MOST_BYTES:  # a partial request continues at the next call
        before = peer.sent
        peer.send(request[before % len(request):])
    return True


class Attack(NamedTuple):
    """What each peer does; act() and the other fields are as in Peers. A peer that has left is replaced."""
    about: str
    peers: int                      # by default
    act: Callable[[Peer, Dialect], bool]
    reads: bool = True
    interval_s: float = 0


ATTACKS = {
    # Half of them send a request, so that the reset comes before, in or after a reply.
    "resets": Attack("connect and reset the connection, half of them after a request", 200,
                     lambda p, d: p.number % 2 == 0 and p.send(d.request(p.number)) and False),
    "silence": Attack("connect and say nothing", 500, lambda p, d: True),
    "half-requests": Attack("send half of a request and no more", 500,
                            lambda p, d: p.send((request := d.request(p.number))[:len(request) // 2])),
    "slow-writers": Attack("send the beginning of a request, and then a byte every 100 ms that does not end it", 500,
                           lambda p, d: p.send(d.unfinished_request(p.number)[p.sent:] or b"x"), interval_s=0.1),
    "non-readers": Attack("ask for as much as the server takes, and never read", 50, ask_and_never_read, False, 0.01),
    "flood": Attack("come all at once, each with a request, and stay", 2000, lambda p, d: p.send(d.request(p.number))),
    "garbage": Attack("send 4 KiB that mean nothing, every second one with a reset behind", 100,
                      lambda p, d: p.send(random.Random(p.number).randbytes(4096)) and p.number % 2 == 0, interval_s=0.05),
}


class Innocent:
    """Sends requests on four connections in turn, and waits for each reply at most for the bound."""

    def __init__(self, s: argparse.Namespace) -> None:
        self.answered_s: list[float] = []
        self.errors: list[str] = []
        self._s, self._ends = s, False
        self._socks: dict[int, socket.socket] = {}
        self.thread = threading.Thread(target=self._work, daemon=True)

    def ask(self, number: int) -> str:
        """Returns "" after a timely reply, else the error."""
        deadline, request = time.monotonic() + self._s.bound, self._s.dialect.request(number)
        try:
            sock = self._connection(number % 4)
            sock.sendall(request)
            if self._s.dialect.receive(Reply(sock, deadline), request):
                self._socks[number % 4] = sock
            return ""
        except TimeoutError:
            return f"no reply within {self._s.bound * 1000:.0f} ms"
        except EOFError as end:
            return f"the server closed the connection {end}"
        except (ValueError, http.client.HTTPException):
            return "a wrong reply"
        except OSError as error:
            return str(error.strerror)

    def _connection(self, place: int) -> socket.socket:
        """A server may close a connection after a reply; then the next request opens a new one."""
        if sock := self._socks.pop(place, None):
            sock.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                sock = sock if sock.recv(1, socket.MSG_PEEK) else None
        sock = sock or socket.create_connection(self._s.target.address[:2], self._s.bound)
        sock.settimeout(self._s.bound)
        return sock

    def _work(self) -> None:
        while not self._ends:
            start = time.monotonic()
            error = self.ask(len(self.answered_s) + len(self.errors))
            took_s = time.monotonic() - start
            if not error:
                self.answered_s.append(took_s)
            else:
                self.errors.append(error)
            time.sleep(max(0.0, INTERVAL_S - took_s))

    def finish(self, found: Findings) -> None:
        """Waits for the last reply, at most for the bound."""
        self._ends = True
        self.thread.join()
        found.tell("answered", len(self.answered_s))
        found.tell("unanswered", len(self.errors), exactly=0)
        found.tell("worst_ms", 1000 * max(self.answered_s, default=math.nan))
        found.remarks += [f"the innocent client: {error}" for error in self.errors[:1]]


def recovery_ms(s: argparse.Namespace) -> float:
    """Returns the time until a new client gets a reply within the bound; NaN: it got none."""
    start = time.monotonic()
    while time.monotonic() < start + RECOVERY_S:
        if not Innocent(s).ask(0):
            return (time.monotonic() - start) * 1000
        time.sleep(INTERVAL_S)
    return math.nan


def perform(attack: Attack, s: argparse.Namespace, peers: int) -> Findings:
    """A fault of the server is a failure in the findings, not an exception."""
    found, innocent = Findings(), Innocent(s)
    if error := next(filter(None, map(innocent.ask, range(8))), None):
        found.failure = f"the server does not answer, even before the attack: {error}"
        return found
    # Redis in its protected mode takes any address except 127.0.0.1 for a remote one, and closes such a connection at once.
    hostile = Peers(s.target, range(peers * MOST_VISITS_PER_PEER), lambda peer: attack.act(peer, s.dialect),
                    reads=attack.reads, interval_s=attack.interval_s, many_sources=False, most=peers)
    innocent.thread.start()
    try:
        hostile.listen(s.window)
    except OSError as error:
        found.failure = f"the peers: {error}"
    innocent.finish(found)  # the peers stay until it has its last reply
    hostile.reset()
    found.note(visits=hostile.fates.total(), refused=hostile.fates["refused"], closed=hostile.fates["closed"])
    found.tell("recovery_ms", recovery_ms(s), at_most=(RECOVERY_S + s.bound) * 1000)
    return found

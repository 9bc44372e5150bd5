# SPDX-License-Identifier: BSL-1.0
"""Hostile peers against any running server, beside an innocent client."""
import argparse
import contextlib
import http.client
import math
import random
import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from .dialect import Dialect, Reply
from .findings import Findings
from .peers import Peer, Peers

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
        found.tell("answered", "requests of the innocent client that were answered", len(self.answered_s))
        label = f"its requests without a right reply within {self._s.bound * 1000:.0f} ms"
        found.tell("unanswered", label, len(self.errors), exactly=0)
        found.tell("worst_ms", "its longest wait for an answer", 1000 * max(self.answered_s, default=math.nan), "ms")
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
                    reads=attack.reads, interval_s=attack.interval_s, many_sources=False)
    innocent.thread.start()
    try:
        hostile.keep(peers, s.window)
    except OSError as error:
        found.failure = f"the peers: {error}"
    innocent.finish(found)  # the peers stay until it has its last reply
    hostile.reset()
    found.tell("visits", "connections that the hostile peers have begun", hostile.fates.total())
    found.tell("refused", "of them refused", hostile.fates["refused"])
    found.tell("closed", "of them closed by the server", hostile.fates["closed"])
    found.tell("recovery_ms", "time from the end of the attack until a new client is answered", recovery_ms(s), "ms",
               at_most=(RECOVERY_S + s.bound) * 1000)
    return found

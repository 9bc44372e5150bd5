# SPDX-License-Identifier: BSL-1.0
"""Hostile peers against any running server, beside an innocent client."""
import argparse
import collections
import contextlib
import math
import random
import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from .dialect import Dialect, Reply
from .findings import Findings
from .peers import AT_ONCE, Peer, Peers

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
    """A peer acts when it is connected, and then after each interval. If act() returns False, it resets its connection,
    and another one comes. Peers without `reads` leave replies in the kernel."""
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


class Hostile(Peers):
    """All peers of one attack."""

    def __init__(self, attack: Attack, s: argparse.Namespace, peers: int) -> None:
        super().__init__(s.target, range(0), reads=attack.reads)
        self.visits = 0
        self._attack, self._dialect, self._wanted = attack, s.dialect, peers
        self._scheduled = collections.deque[tuple[float, Peer]]()

    def connected(self, peer: Peer) -> None:
        if not self._attack.act(peer, self._dialect):
            self.set_fate(peer, "left")
        elif self._attack.interval_s:
            self._scheduled.append((time.monotonic() + self._attack.interval_s, peer))

    def received(self, peer: Peer, data: bytes) -> None:
        pass

    def stay(self, seconds: float) -> None:
        end, most_visits = time.monotonic() + seconds, self._wanted * MOST_VISITS_PER_PEER
        while (now := time.monotonic()) < end:
            while len(self.open_ones) < self._wanted and self.fates["connecting"] < AT_ONCE and self.visits < most_visits:
                self.begin(self.visits)
                self.visits += 1
            self.poll(min(0.005, end - now))
            while self._scheduled and self._scheduled[0][0] <= now:
                if (peer := self._scheduled.popleft()[1]).fate == "waiting":
                    self.connected(peer)


class Innocent:
    """Sends requests on four connections in turn, and waits for each reply at most for the bound."""

    def __init__(self, s: argparse.Namespace) -> None:
        self.answered = self.failed = 0
        self._s, self._worst_s, self._first_failure, self._is_last = s, 0.0, "", threading.Event()
        self._socks: list[socket.socket | None] = [None] * 4
        self.thread = threading.Thread(target=self._work, daemon=True)

    def ask(self, number: int) -> str:
        """Returns "" after a timely reply, else the error."""
        deadline, request, step = time.monotonic() + self._s.bound, self._s.dialect.request(number), "cannot send: "
        sock, self._socks[number % 4] = self._socks[number % 4], None
        try:
            if sock:  # a server may close a connection after a reply; then the next request opens a new one
                sock.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    sock = sock if sock.recv(1, socket.MSG_PEEK) else None
            if not sock:
                step = "cannot connect: "
                sock = socket.create_connection(self._s.target.address[:2], self._s.bound)
            step = "cannot send: "
            sock.send(request)
            step = ""
            error, stays_open = self._receive(sock, request, deadline)
            self._socks[number % 4] = sock if stays_open else None
            return error
        except TimeoutError:
            return "no connection in time" if step else f"no reply within {self._s.bound * 1000:.0f} ms"
        except OSError as failure:
            return f"{step}{failure.strerror}"

    def _receive(self, sock: socket.socket, request: bytes, deadline: float) -> tuple[str, bool]:
        reply, state = b"", Reply.INCOMPLETE
        while state in (Reply.INCOMPLETE, Reply.UNTIL_END):
            sock.settimeout(max(1e-6, deadline - time.monotonic()))
            if not (data := sock.recv(65536)):
                how = f"after {len(reply)} bytes of its reply" if reply else "without a reply"
                return "" if state is Reply.UNTIL_END else f"the server closed the connection {how}", False
            reply += data
            state = self._s.dialect.check(reply, request)
        return "a wrong reply" if state is Reply.WRONG else "", state is Reply.COMPLETE

    def _work(self) -> None:
        while not self._is_last.is_set():
            start = time.monotonic()
            error = self.ask(self.answered + self.failed)
            took_s = time.monotonic() - start
            if error:
                self._first_failure = self._first_failure or error
                self.failed += 1
            else:
                self._worst_s = max(self._worst_s, took_s)
                self.answered += 1
            time.sleep(max(0.0, INTERVAL_S - took_s))

    def finish(self, found: Findings) -> None:
        """Waits for the last reply, at most for the bound."""
        self._is_last.set()
        self.thread.join()
        found.tell("answered", "requests of the innocent client that were answered", self.answered)
        label = f"its requests that were not, within {self._s.bound * 1000:.0f} ms each"
        found.tell("unanswered", label, self.failed, exactly=0)
        found.tell("worst_ms", "its longest wait for an answer", self._worst_s * 1000, "ms")
        found.remarks += [f"the innocent client: {self._first_failure}"] if self.failed else []


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
    found, innocent, hostile, end = Findings(), Innocent(s), Hostile(attack, s, peers), time.monotonic() + 2 * s.bound
    innocent.thread.start()
    while innocent.answered < 8 and not innocent.failed and time.monotonic() < end:
        time.sleep(0.005)
    try:
        if innocent.failed:
            found.failure = "the server does not answer, even before the attack"
        else:
            hostile.stay(s.window)
            found.tell("visits", "connections that the hostile peers have begun", hostile.visits)
            found.tell("refused", "of them refused", hostile.fates["refused"])
            found.tell("closed", "of them closed by the server", hostile.fates["closed"])
        innocent.finish(found)  # the peers stay until it has its last reply
    except OSError as error:
        found.failure = f"the peers: {error}"
    finally:
        hostile.reset()
    found.tell("recovery_ms", "time from the end of the attack until a new client is answered",
               recovery_ms(s) if innocent.answered else math.nan, "ms", at_most=(RECOVERY_S + s.bound) * 1000)
    return found

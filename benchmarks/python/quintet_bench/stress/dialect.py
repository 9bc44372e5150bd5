# SPDX-License-Identifier: BSL-1.0
"""Protocols of servers under attack: a request, and how its reply is received."""
import http.client
import io
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple

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


def receive_echo(reply: Reply, request: bytes) -> bool:
    require(reply.makefile().read(len(request)) == request)
    return True


def resp_echo(text: bytes) -> bytes:
    return b"*2\r\n$4\r\nECHO\r\n$%d\r\n%b\r\n" % (len(text), text)


def receive_resp(reply: Reply, request: bytes) -> bool:
    wanted = b"+PONG\r\n" if request.startswith(b"*1") else request[request.rfind(b"$"):]
    lines = reply.makefile()
    require(all(lines.readline() == line for line in wanted.splitlines(keepends=True)))
    return True


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
    "echo": Dialect(lambda number: (b"request %d " % number).ljust(63, b"-") + b"\n", receive_echo, LARGE + b"\n",
                    lambda number: b"request %d " % number),
    # Every second request is a PING, because some servers have no ECHO.
    "resp": Dialect(lambda number: resp_echo(b"request %d" % number) if number % 2 else b"*1\r\n$4\r\nPING\r\n", receive_resp,
                    resp_echo(LARGE), lambda number: b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (UNFINISHED_BYTES + 1)),
    "http": Dialect(http_request, receive_http, b"".join(map(http_request, range(200))),
                    lambda number: http_request(number)[:-2] + b"X-Unfinished: "),
}

# SPDX-License-Identifier: BSL-1.0
"""Protocols of servers under attack: a request, and when its reply is complete."""
import enum
import re
from collections.abc import Callable
from typing import NamedTuple

UNFINISHED_BYTES = 15_000           # so many bytes "x" may follow an unfinished request without completing it
LARGE = b"x" * 16_000

# LAST: complete, and the server then closes the connection. UNTIL_END: complete if the server closes the connection here.
Reply = enum.Enum("Reply", "INCOMPLETE COMPLETE LAST UNTIL_END WRONG")


class Dialect(NamedTuple):
    request: Callable[[int], bytes]             # differs from number to number
    check: Callable[[bytes, bytes], Reply]      # judges all bytes of a reply so far, by the request
    large_request: bytes                        # its reply is as long as the protocol offers
    unfinished_request: Callable[[int], bytes]  # the beginning of a request, to be followed by bytes "x"


def so_far(reply: bytes, wanted: bytes) -> Reply:
    return Reply.COMPLETE if reply == wanted else Reply.INCOMPLETE if wanted.startswith(reply) else Reply.WRONG


def resp_echo(text: bytes) -> bytes:
    return b"*2\r\n$4\r\nECHO\r\n$%d\r\n%b\r\n" % (len(text), text)


def check_resp(reply: bytes, request: bytes) -> Reply:
    return so_far(reply, b"+PONG\r\n" if request.startswith(b"*1") else request[request.rfind(b"$"):])


def http_request(number: int) -> bytes:
    return b"GET /?%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number


def check_chunks(body: bytes) -> Reply:
    while True:
        line, end, body = body.partition(b"\r\n")
        digits = re.match(rb"[0-9a-f]+(?![^; \t])", line, re.IGNORECASE)
        if not end or not digits:
            return Reply.WRONG if end or len(line) > 4096 else Reply.INCOMPLETE
        size = int(digits[0], 16)
        if size == 0:  # fields may precede the empty line
            fields = 0 if body.startswith(b"\r\n") else body.find(b"\r\n\r\n") + 2
            return Reply.INCOMPLETE if fields == 1 else so_far(body[fields:], b"\r\n")
        if len(body) < size + 2:
            return Reply.INCOMPLETE
        if body[size:size + 2] != b"\r\n":
            return Reply.WRONG
        body = body[size + 2:]


def check_body(status: bytes, fields: dict[bytes, bytes], body: bytes) -> Reply:
    if status in (b"204", b"304"):
        return so_far(body, b"")
    if fields.get(b"transfer-encoding", b"").endswith(b"chunked"):
        return check_chunks(body)
    length = fields.get(b"content-length", b"")
    if not length:
        return Reply.UNTIL_END
    if not length.isdigit() or len(body) > int(length):
        return Reply.WRONG
    return Reply.COMPLETE if len(body) == int(length) else Reply.INCOMPLETE


def check_http(reply: bytes, request: bytes) -> Reply:
    """Accepts any status except the server's own failures."""
    head, end, body = reply.partition(b"\r\n\r\n")
    status = head[9:12]
    if not b"HTTP/1.".startswith(reply[:7]) or (status[:1] == b"5" if end else len(reply) > 65536):
        return Reply.WRONG
    if not end or status[:1] == b"1":  # informational: the final reply follows
        return check_http(body, request) if end else Reply.INCOMPLETE
    fields = dict(re.findall(rb"\r\n([^:\r]*):[ \t]*(.*?)[ \t]*(?=\r\n)", head.lower() + b"\r\n"))
    state = check_body(status, fields, body)
    closes = reply.startswith(b"HTTP/1.0") or fields.get(b"connection") == b"close"
    return Reply.LAST if state is Reply.COMPLETE and closes else state


DIALECTS = {
    # A line, so that servers that echo lines work too.
    "echo": Dialect(lambda number: (b"request %d " % number).ljust(63, b"-") + b"\n", so_far, LARGE + b"\n",
                    lambda number: b"request %d " % number),
    # Every second request is a PING, because some servers have no ECHO.
    "resp": Dialect(lambda number: resp_echo(b"request %d" % number) if number % 2 else b"*1\r\n$4\r\nPING\r\n", check_resp,
                    resp_echo(LARGE), lambda number: b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (UNFINISHED_BYTES + 1)),
    "http": Dialect(http_request, check_http, b"".join(map(http_request, range(200))),
                    lambda number: http_request(number)[:-2] + b"X-Unfinished: "),
}

# SPDX-License-Identifier: BSL-1.0
"""stress: findings, protocols, options, and attacks that tell a server that keeps serving from one that a peer can stop."""
import argparse
import contextlib
import math
import os
import pathlib
import socket
import socketserver
import threading

import pytest
from conftest import run_command

from quintet_bench.build import Build
from quintet_bench.commands import stress
from quintet_bench.errors import UsageError
from quintet_bench.stress import run as stress_run
from quintet_bench.stress.attack import ATTACKS, Innocent, perform
from quintet_bench.stress.attack import DIALECTS, UNFINISHED_BYTES
from quintet_bench.stress.findings import Findings, text_of
from quintet_bench.stress.peers import Peer, resolve

OK, CHUNKED = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EARLY, LOOKS_ENDED = b"HTTP/1.1 103 Early\r\n\r\n", b"C\r\nab\r\n0\r\n\r\n"  # the latter within a chunk
CUT_OFF, WRONG = "the server closed the connection after {} bytes of its reply", "a wrong reply"


def test_findings() -> None:
    found = Findings()
    found.tell("p50_us", 1234.6)
    found.tell("ratio", 2, at_most=2)
    assert found.verdict == "passed" and "1,235 us\n" in text_of(found.json()) and "(at most 2)\n" in text_of(found.json())
    found.tell("served", math.nan, exactly=100)
    assert not found.json()["passed"] and "not measured  (must be 100)  FAILED" in text_of(found.json())
    assert found.json()["figures"] == {"p50_us": 1234.6, "ratio": 2, "served": None}
    assert found.json()["demands"]["served"] == {"demand": "must be 100", "met": False}
    assert found.verdict == "FAILED"
    noisy = Findings()
    noisy.tell("ratio", 3, at_most=2, noise="one round")
    assert noisy.json()["passed"] and noisy.verdict == "too noisy to say"
    assert "too noisy to say: one round" in text_of(noisy.json())
    assert noisy.json()["demands"]["ratio"]["met"] is None
    failed = Findings()
    failed.failure = "the server was killed"
    assert failed.verdict == "FAILED" and "FAILED: the server was killed" in text_of(failed.json())


@pytest.mark.parametrize("protocol, number, reply, complaint", [
    ("echo", 7, DIALECTS["echo"].request(7), ""), ("echo", 7, DIALECTS["echo"].request(7)[:9], CUT_OFF),
    ("echo", 7, DIALECTS["echo"].request(8), WRONG), ("resp", 0, b"+PONG\r\n", ""),
    ("resp", 0, b"-ERR no\r\n", WRONG), ("resp", 1, b"$9\r\nrequest 1\r\n", ""),
    ("resp", 1, b"$9\r\nrequest 2\r\n", WRONG), ("http", 0, OK + b"content-LENGTH: 2 \r\n\r\nab", ""),
    ("http", 0, OK + b"Content-Length: 2\r\n\r\na", CUT_OFF), ("http", 0, b"SSH-2.0\r\n", WRONG),
    ("http", 0, b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", WRONG), ("http", 0, OK + b"\r\nuntil the end", ""),
    ("http", 0, OK + b"Content-Len", CUT_OFF), ("http", 0, b"HTTP/1.1 204 No Content\r\n\r\n", ""),
    ("http", 0, EARLY, CUT_OFF), ("http", 0, EARLY + OK + b"\r\n", ""),
    ("http", 0, CHUNKED + LOOKS_ENDED, CUT_OFF), ("http", 0, CHUNKED + LOOKS_ENDED + b"xyz\r\n0\r\n\r\n", ""),
    ("http", 0, CHUNKED + b"1;a=b\r\na\r\n0\r\nX-Sum: 7\r\n\r\n", ""), ("http", 0, CHUNKED + b"size\r\n", WRONG),
    ("http", 0, b"", "the server closed the connection without a reply")])
def test_which_replies_are_answers(protocol: str, number: int, reply: bytes, complaint: str) -> None:
    def answer() -> None:
        with listener.accept()[0] as client:
            client.recv(4096)
            client.sendall(reply)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, daemon=True).start()
        target = resolve("127.0.0.1:%d" % listener.getsockname()[1])
        s = argparse.Namespace(target=target, dialect=DIALECTS[protocol], bound=30)
        assert Innocent(s).ask(number) == complaint.format(len(reply))


@pytest.mark.parametrize("number", [0, 9, 10, 100_000])
def test_a_slow_writer_never_completes_its_request(number: int) -> None:
    ours, theirs = socket.socketpair()
    peer, beginnings = Peer(ours, number), {name: d.unfinished_request(number) for name, d in DIALECTS.items()}
    assert all(ATTACKS["slow-writers"].act(peer, DIALECTS["http"]) for _ in range(3))
    assert theirs.recv(4096) == beginnings["http"] + b"xx"
    assert b"\n" not in beginnings["echo"] and b"\n\r\n" not in beginnings["http"] and beginnings["http"][-1:] != b"\n"
    assert int(beginnings["resp"].split(b"$")[-1]) > UNFINISHED_BYTES


@pytest.mark.parametrize("pairs, foreign, reason", [
    ([(100, 300), (110, 320), (90, 290)], 0.02, ""), ([(100, 300), (110, 320), (90, 290)], 0.3, "other programs had 30 %"),
    ([(100, 300)], 0, "one round"), ([(100, 300), (160, 350), (100, 310)], 0, "differ"), ([], 0, "")])
def test_a_ratio_above_its_bound_fails_only_beyond_the_noise(pairs: list[tuple[float, float]], foreign: float,
                                                             reason: str) -> None:
    found = stress_run.noise_of(pairs, foreign, 2)
    assert reason in found and bool(found) == bool(reason)


def test_window_probes_are_found_by_name() -> None:
    assert stress_run.window_probes("IpExt: TCPWinProbe\nIpExt: 5\nTcpExt: Syn TCPWinProbe Keep\nTcpExt: 1 73500 7\n") == 73500
    assert all(math.isnan(stress_run.window_probes(text)) for text in ("", "TcpExt: A TCPWinProbe\nTcpExt: 1\n"))


SLABINFO = """slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor>
TCPv6                 10     91   2496   13    8 : tunables    0    0    0 : slabdata      7      7      0
tw_sock_TCP          208    208    256   16    1 : tunables    0    0    0 : slabdata     13     13      0
TCP                  100    130   2368   13    8 : tunables    0    0    0 : slabdata     10     10      0
filp                 400    441    192   21    1 : tunables    0    0    0 : slabdata     21     21      0
"""


def test_kernel_memory_of_connections(tmp_path: pathlib.Path) -> None:
    buffers = "sockets: used 10\nTCP: inuse 1 orphan 0 tw 29 alloc 1 mem 3\nUDP: inuse 0 mem 7\n"
    objects = 10 * 2496 + 100 * 2368 + 400 * 192
    assert stress_run.tcp_memory(SLABINFO, buffers) == objects + 3 * os.sysconf("SC_PAGE_SIZE")
    for slabinfo, sockstat in (("", buffers), (SLABINFO, ""), (SLABINFO.replace("\nTCP ", "\nUDP "), buffers)):
        assert math.isnan(stress_run.tcp_memory(slabinfo, sockstat))
    (tmp_path / "slabinfo").write_text("slabinfo - version: 2.1\n")
    assert stress_run.no_tcp_memory(str(tmp_path / "slabinfo")).endswith("has no cache TCP")
    assert stress_run.no_tcp_memory(str(tmp_path / "none")).endswith("No such file or directory")


@pytest.mark.parametrize("controllers, files", [("memory", {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}),
                                                ("cgroup.controllers", {"memory.max", "memory.swap.max"})])
def test_a_memory_group(controllers: str, files: set[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stress_run, "CGROUPS", tmp_path)
    with stress_run.memory_group(4096) as group:
        assert group is None  # there is no memory controller
    (tmp_path / controllers).mkdir()
    with stress_run.memory_group(4096) as group:
        assert group and {path.name for path in group.iterdir()} == files


@pytest.mark.parametrize("kind, verdict", [("blocks", "no reply within 1000 ms"), ("serves", ""), ("silent", "even before")])
def test_an_attack_fails_a_server_that_one_peer_can_stop(kind: str, verdict: str) -> None:
    turn = threading.Lock() if kind == "blocks" else contextlib.nullcontext()

    class Echo(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
            with contextlib.suppress(OSError):
                while data := self.request.recv(65536):
                    with turn:
                        self.request.sendall(data)
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)  # its threads last as long as the tests
    server.daemon_threads = True
    if kind != "silent":
        threading.Thread(target=server.serve_forever, daemon=True).start()
    target = resolve("127.0.0.1:%d" % server.server_address[1])
    s = argparse.Namespace(target=target, dialect=DIALECTS["echo"], bound=1, window=1.5)
    found = perform(ATTACKS["non-readers"], s, 20).json()
    assert found["passed"] == (not verdict) and verdict in text_of(found), text_of(found)


@pytest.mark.parametrize("line, refusal", [
    ("", "a scenario is required"), ("frobnicate", "resets, slow-writers,"), ("idle --peers 100000000", "ulimit"),
    ("slow-writers --deadline 2min", "1min"), ("idle --model 3,4 --accept reuse_port", "no loops that accept"),
    ("resets --allow-remote", "--server"), ("overload --server 127.0.0.1:9", "not an attack on --server"),
    ("--server 127.0.0.1", "HOST:PORT"), ("--server 192.0.2.1:80", "--allow-remote"),
    ("--server [2001:db8::1]:80", "--allow-remote"), ("--server 127.0.0.1:9 --window 1 --bound 1", "twice --bound"),
    ("--server [::1]:9 --peers 10001", "at most 10000"), ("--server 127.0.0.1:9 --model 4", "--model")])
def test_wrong_options_are_refused(build: Build, line: str, refusal: str) -> None:
    with pytest.raises(UsageError, match=refusal.replace("[", r"\[")):
        run_command(stress, build, line)

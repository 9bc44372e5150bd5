# SPDX-License-Identifier: BSL-1.0
"""proxies: what is missing is named, the others take their configuration, and the ratios are ours over theirs."""
import pathlib
import subprocess

import pytest
from conftest import made_up
from quintet_bench.commands.proxies import Programs, compose, table
from quintet_bench.results import Document, summarise
from quintet_bench.web import installed, stream_module

ALL = Programs("proxy", "http_hello", "haproxy", "nginx", "")


@pytest.mark.parametrize("programs, missing", [
    (ALL, {}), (ALL._replace(haproxy=None), {"haproxy": "it is not installed; apt-get install haproxy"}),
    (ALL._replace(module=None), {"nginx": "its stream module is missing; apt-get install libnginx-mod-stream"}),
    (ALL._replace(nginx=None, module=None), {"nginx": "it is not installed; apt-get install nginx libnginx-mod-stream"})])
def test_missing_contenders_are_named(programs: Programs, missing: dict[str, str]) -> None:
    assert programs.missing() == missing
    document = Document("proxies", "1", {}, {}, [made_up(workload="short", requests_per_s=9)])
    figures = document.figures() | compose(document) | {"missing": missing}
    text = table(summarise(document.results), figures)
    assert figures["ratios"] == [] and all(f"{name} is left out: {why}" in text for name, why in missing.items())
    assert "proxy, single_reactor" in text and "620 % more" in text and "It misquotes" in text


@pytest.mark.parametrize("peer", ["haproxy", "nginx"])
def test_others_take_their_configuration(peer: str, tmp_path: pathlib.Path) -> None:
    path = installed(peer)
    module = "" if peer == "haproxy" else stream_module(path) if path else None
    programs = ALL._replace(haproxy=path, nginx=path, module=module)
    port, command = programs.relay({"peer": peer, "loops": 2}, str(tmp_path), "127.0.0.1:7001")
    text = next(tmp_path.iterdir()).read_text()
    assert f"127.0.0.1:{port}" in text and "127.0.0.1:7001" in text and ("nbthread 2" in text or "worker_processes 2;" in text)
    if peer in programs.missing():
        pytest.skip(f"{peer}: {programs.missing()[peer]}")
    subprocess.run([*command, {"haproxy": "-c", "nginx": "-t"}[peer]], check=True, capture_output=True)


def test_stream_of_nginx_is_found_where_it_is(tmp_path: pathlib.Path) -> None:
    nginx = tmp_path / "nginx"
    found = []
    for text in ("--with-stream --with-x", "--with-stream", f"--modules-path={tmp_path} --with-stream=dynamic"):
        nginx.write_text(f"#!/bin/sh\necho 'configure arguments: {text}' >&2\n")
        nginx.chmod(0o700)
        found.append(stream_module(str(nginx)))
    (tmp_path / "ngx_stream_module.so").touch()
    assert found == ["", "", None] and stream_module(str(nginx)) == f"load_module {tmp_path}/ngx_stream_module.so;"


def test_accept_strategies_of_the_proxy_are_compared_with_the_first() -> None:
    results = [made_up(workload="short", round=i, requests_per_s=speed, accept=name, **who) for i in (1, 2)
               for speed, name, who in ((200, "reuse_port", {}), (100, "main_reactor", {}), (400, None, {"peer": "nginx"}))]
    found = compose(Document("proxies", "1", {}, {}, results))["ratios"]
    speeds = [(r.get("peer"), r.get("accept"), r["median"], r["met"]) for r in found if r["metric"] == "requests_per_s"]
    assert speeds == [("nginx", None, 0.5, False), (None, "main_reactor", 0.5, None)]
    assert any("proxy by main_reactor has 0.50 times the connections of proxy by reuse_port" in r["sentence"] for r in found)


def test_the_ratios_are_ours_over_theirs() -> None:
    results = [made_up(workload="short", round=i, requests_per_s=speed * i, server_cpu_us_per_request=cpu, p99_us=900, **who)
               for i in (1, 2) for speed, cpu, who in ((300, 10, {}), (200, 20 * i, {"model": None, "peer": "haproxy"}))]
    document = Document("proxies", "1", {}, {}, results)
    figures = document.figures() | compose(document) | {"missing": {}}
    assert [(r["peer"], r["metric"], r["median"]) for r in figures["ratios"]] == [
        ("haproxy", "requests_per_s", 1.5), ("haproxy", "server_cpu_us_per_request", 0.375), ("haproxy", "p99_us", 1)]
    assert [(r["demand"], r["met"]) for r in figures["ratios"]] == [("at least 1", True), (None, None), (None, None)]
    text = table(summarise(results), figures)
    for part in ("proxy has 1.50 times the connections of haproxy (rounds from 1.50 to 1.50); demanded: at least 1: met.",
                 "0.38 times the CPU a connection of haproxy (rounds from 0.25 to 0.50)", "within the noise the same"):
        assert part in text, text

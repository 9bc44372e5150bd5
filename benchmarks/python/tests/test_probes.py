# SPDX-License-Identifier: BSL-1.0
"""Working sets that show their cache, and the tables and ratios of memlat, hash, merging and contention."""
import pathlib

import pytest
from conftest import made_up

from quintet_bench import redis_load
from quintet_bench.commands import contention, memlat, merging
from quintet_bench.commands import hash as hashing
from quintet_bench.commands.memlat import read_caches, working_sets
from quintet_bench.machine import allowed_cpus
from quintet_bench.plan import Contender, Run, Settings
from quintet_bench.results import Document, summarise
from quintet_bench.runner import describe

KIB, MIB = 1 << 10, 1 << 20
CACHES = [(1, 32 * KIB), (2, MIB), (3, 32 * MIB)]


def test_data_caches_are_read_smallest_first(tmp_path: pathlib.Path) -> None:
    for index, level, kind, size in ((3, 3, "Unified", "16M"), (0, 1, "Data", "32K"), (1, 1, "Instruction", "64K")):
        folder = tmp_path / f"cpu3/cache/index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    assert read_caches(3, str(tmp_path)) == [(1, 32 * KIB), (3, 16 * MIB)]
    assert read_caches(4, str(tmp_path)) == []


def test_working_sets_fit_their_level_and_the_memory() -> None:
    assert working_sets(CACHES, 1 << 30) == ({"L1": 16 * KIB, "L2": MIB // 2, "L3": 8 * MIB, "DRAM": 128 * MIB}, [])
    sets, left_out = working_sets(CACHES, 100 * MIB)
    assert list(sets) == ["L1", "L2", "L3"] and left_out == ["DRAM: it needs 128 MiB, and 100 MiB are available"]
    assert list(working_sets([(1, MIB), (2, MIB)], 1 << 30)[0]) == ["L1", "DRAM"]  # the second level shows nothing
    assert list(working_sets([], 1 << 30)[0]) == ["DRAM"]


@pytest.mark.parametrize("ns, told", [(90, True), (20, False)])
def test_a_cache_as_slow_as_memory_is_remarked_on(ns: float, told: bool) -> None:
    results = [{"name": "L3", "bytes": MIB, "ns": ns}, {"name": "DRAM", "bytes": 64 * MIB, "ns": 100}]
    document = memlat.compose(Document("memlat", "", {}, {}, results)) | {"not_known": ["who knows"]}
    assert ("L3 is hardly faster than DRAM" in memlat.table(results, document)) is told
    assert [r["what"] for r in document["results"]] == ["load", "load"]


def hashed(kind: str, size: int, *rates: float) -> list[dict[str, object]]:
    return [{"kind": kind, "bytes": size, "bytes_per_s": rate, "error": None, "round": number}
            for number, rate in enumerate(rates, 1)]


def hash_table(results: list[dict[str, object]]) -> str:
    document = Document("hash", "", {}, {"rounds": 2, "cpu": 1}, results)
    return hashing.table(results, document.raw() | hashing.compose(document))


def test_hashes_stand_beside_the_published_ones() -> None:
    results = [*hashed("crc32", 64, 1e9, 1e9), *hashed("xxh3", 64, 4e9, 6e9), *hashed("map-crc32", 64, 4e7, 4e7),
               *hashed("crc32", 1024, 9e9, 9e9), *hashed("xxh3", 1024, 1e9, 1e9),
               *hashed("crc32", 16384, 8e9, 8e9), *hashed("xxh3", 16384, 4e9)]  # interrupted
    table = hash_table(results)
    for part in ("ns for a message of 64 B: crc32 64.0, xxh3 12.8", "at most 40 % (xxh3 at 64 B)"):
        assert part in table
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.startswith("  ")}
    assert rows["map-crc32"] == ["40.0", "-", "-", "35"] and rows["crc32"] == ["1,000", "9,000", "8,000", "498"]


@pytest.mark.parametrize("share, slow, ours, met", [(0.9, 0.1, 0.1, [True] * 3), (0.5, 0.4, 0.5, [False] * 3)])
def test_a_slow_checksum_limits_messages_and_ours_does_not(share: float, slow: float, ours: float, met: list[bool]) -> None:
    results = hashed("xxh3", 16384, *[3e10] * 5)
    for kind, rate, part in (("none", 1, 0.0), ("map-crc32", slow, share), ("xxh3", 0.9, ours)):
        results += [r | {"carried": True, "sender_share": part, "receiver_share": part}
                    for r in hashed(kind, 16384, *[rate * 2e9] * 5)]
    assert [one["met"] for one in hashing.limits(hashing.split(results)[1])] == met
    assert ["none", "122,070", "2,000", "0", "%", "0", "%"] in [
        line.split() for line in hash_table(results).splitlines()]


def test_a_hash_that_the_cpu_lacks_is_told_and_not_compared() -> None:
    lacking = {"kind": "crc32c", "bytes": 64, "bytes_per_s": None, "error": "not supported by this CPU", "round": 1}
    table = hash_table([lacking, *hashed("xxh3", 64, 4e9)])
    assert "crc32c: not supported by this CPU\n" in table and "fastest" not in table
    assert hash_table([lacking]) == hash_table([]) == ""


def merging_table(results: list[dict[str, object]]) -> str:
    document = Document("merging", "", {}, {"placement": ""}, results)
    return merging.table(results, document.raw() | merging.compose(document))


def test_merging_pairs_the_runs_of_a_round() -> None:
    def run(merged: bool, number: int, speed: float) -> dict[str, object]:
        return {"sizes": "8..128", "merging": merged, **dict.fromkeys(merging.COLUMNS, 1), "messages_per_s": speed,
                "round": number}
    runs = [run(True, 1, 100), run(False, 1, 50), run(True, 2, 90), run(False, 2, 30), run(True, 3, 80)]  # interrupted
    assert "merged: 2.50 times as many messages (rounds from 2.00 to 3.00)" in merging_table(runs)
    assert "times" not in merging_table(runs[:1])


@pytest.mark.parametrize("merged, single, verdicts", [((0.9, 0.8), (0.03, 0.02), ("met", "met")),
                                                      ((0.4, 0.3), (0.2, 0.3), ("not met", "not met")),
                                                      ((0.4, 0.6), (0.02, 0.2), ("too noisy to say",) * 2)])
def test_merging_makes_the_throughput_flat(merged: tuple[float, ...], single: tuple[float, ...],
                                           verdicts: tuple[str, ...]) -> None:
    runs = [{"sizes": sizes, "merging": way, "bytes_per_s": speed, "round": number}
            for way, speeds in ((True, merged), (False, single)) for number, small in enumerate(speeds)
            for sizes, speed in (("128..128", small * 1e9), ("16384..16384", 1e9))]
    found = merging.flatness(runs)
    assert [one["sentence"].rpartition(": ")[2] for one in found] == list(verdicts)
    assert found[0]["median"] == pytest.approx(sum(merged) / 2) and "128 B carry" in found[0]["sentence"]
    assert merging.flatness(runs[:1]) == []


def test_merge_thresholds_are_compared_with_the_usual_one() -> None:
    runs = [{"sizes": "8..16384", "merging": True, "merge_threshold": size, **dict.fromkeys(merging.COLUMNS, 1),
             "messages_per_s": speed * number, "round": number} for number in (1, 2)
            for size, speed in ((1, 50), (4096, 100), (65536, 80))]
    table = merging_table(runs)
    assert "copied below 64 KiB: 0.80 times the messages/s of copied below 4 KiB (rounds from 0.80 to 0.80)" in table
    assert "-> copied below 1 B: 0.50 times" in table and "-> copied below 4 KiB" not in table


@pytest.mark.parametrize("alone, told", [
    ((100, 101, 99), "1.01 times the p50 of a write for each message (rounds from 0.98 to 1.01, within the noise the same)"),
    ((100, 140, 141), "1.40 times the p50 of a write for each message (rounds from 1.01 to 1.40)")])
def test_merging_must_not_delay_a_message_without_others(alone: tuple[float, ...], told: str) -> None:
    runs = [{"sizes": "64", "merging": merged, **dict.fromkeys(merging.LATENCY_COLUMNS, 1), "p50_us": us, "round": number}
            for number, pair in enumerate(zip(alone, (99, 100, 101))) for merged, us in zip((True, False), pair)]
    assert f"-> merged: {told}\n" in merging_table(runs)


@pytest.mark.parametrize("kind, each, part", [("asio", "an io_context each", "2.57 times"), ("kv", "a kv each", "45 % more")])
def test_contention_compares_within_rounds_and_thread_counts(kind: str, each: str, part: str) -> None:
    results = [made_up(model=None, peer=f"{kind}-{peer}", loops=loops, round=number, requests_per_s=speed * number,
                       p999_us=speed)
               for loops in (8, 2) for number in (1, 2) for peer, speed in (("shared", 10), ("separate", 10 * loops))]
    found = Document("contention", "", {}, {}, results)
    document = found.figures() | contention.compose(found)
    table = contention.table(summarise(results), document)
    two, eight = (table.index(f"-> {threads} threads: {each} has {threads}.00 times") for threads in (2, 8))
    assert two < eight and part in table
    assert document["ratios"][0].items() > {"threads": 2, "metric": "requests_per_s", "median": 2, "min": 2, "max": 2}.items()


@pytest.mark.parametrize("peer, model, servers", [("kv-separate", "single_reactor", 2), ("kv-shared", "loop_per_thread", 1)])
def test_each_kv_has_a_port_and_the_clients_share_the_connections(peer: str, model: str, servers: int, tmp_path: pathlib.Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that do nothing take the places of kv and of redis-benchmark."""
    monkeypatch.setattr(redis_load, "allowed_cpus", lambda: allowed_cpus()[:1] * 2)
    kv, client = tmp_path / "kv", tmp_path / "redis-benchmark"
    kv.write_text("#!/usr/bin/python3\nimport signal, socket, sys\nport = int(sys.argv[2])\n"
                  f"open(f'{tmp_path}/kv-{{port}}', 'w').write(' '.join(sys.argv))\n"
                  "server = socket.create_server(('127.0.0.1', port))\nsignal.pause()\n")
    client.write_text(f"#!/bin/sh\necho \"$4 $6\" >> {tmp_path}/calls\n"
                      "echo '  throughput summary: 1000.00 requests per second'\necho '  latency summary (msec):'\n"
                      "echo '          avg       min       p50       p95       p99       max'\n"
                      "echo '        1.000     1.000     1.000     1.500     2.000     2.500'\n")
    for program in (kv, client):
        program.chmod(0o700)
    run = Run(redis_load.SET.but(threads=2), Contender(peer=peer), 1)
    s = Settings("", shared_cpus=True, duration_s=0.1)
    result = describe(s, run)
    redis_load.measure_kv_servers(redis_load.RedisPrograms("", str(client), str(kv)), result, s, run)
    assert (result["requests"], result["requests_per_s"], result["p99_us"]) == (9000, 2000, 2000)
    started = [file.read_text() for file in tmp_path.glob("kv-*")]
    assert len(started) == result["server_threads"] - 1 == servers     # beside the shell that has started them
    assert all(f"--model {model} " in line for line in started)
    calls = (tmp_path / "calls").read_text().splitlines()              # two clients, twice: port and connections
    assert len(set(calls)) == servers and len(calls) == 4 and all(call.endswith(" 50") for call in calls)

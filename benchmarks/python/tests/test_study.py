# SPDX-License-Identifier: BSL-1.0
"""What is made of the output of perf and cachegrind, of /proc, and of their figures."""
import os
import pathlib
import re

import pytest
from conftest import HERE

from quintet_bench.commands.study import SHARES, cachegrind_counts, machine_caches
from quintet_bench.errors import RunError
from quintet_bench.foreign import OF_THREADS, sample, spent_between
from quintet_bench.results import Document
from quintet_bench.study import kv
from quintet_bench.study.perf_stat import failure, parse, problems
from quintet_bench.study.perf_tool import hot_functions, lock_waits, per_request, share_of
from quintet_bench.study.report import BEFORE, cache, changes, study_table, subject_of


def recorded(name: str) -> str:
    return (HERE / f"data/perf_stat/{name}.txt").read_text()


@pytest.mark.parametrize("name, event, value, running, user, problem", [
    ("intel_multiplexed", "cache-misses", 23727619, 0.4543, False, "36 % of the time"),
    ("intel_brackets", "cache-references", 134780496, 0.6253, False, "50 % of the time"),
    ("hybrid_threads", "cycles", 602501649, 1, False, ""), ("hybrid_system", "cycles", 19288272812, 1, False, ""),
    ("amd_user", "r0425", 43, 1, True, "only user space"), ("arm_system", "cache-references", 379417471, 0.5714, False, "57 %"),
    ("arm_system", "task-clock", 16203.12, 1, False, "57 %"), ("arm_user", "instructions", 10002762164, 1, True, "only user"),
    ("user_csv", "cache-misses", 38705, 1, True, "only user space"), ("vm", "cache-misses", None, 0, False, "not supported"),
    ("vm_csv", "task-clock", None, 0, False, "task-clock: not counted")])
def test_recorded_output(name: str, event: str, value: float | None, running: float, user: bool, problem: str) -> None:
    counts = parse(recorded(name))
    assert (counts[event].state == "counted", counts[event].user_only) == (value is not None, user)
    assert (counts[event].value, counts[event].running) == pytest.approx((value or 0, running), rel=1e-6)
    assert problem in "\n".join(problems(counts)) and bool(problem) == bool(problems(counts))


def test_names_and_states_of_hybrid_cpus() -> None:
    counts = parse("<not counted>,,cpu_atom/cache-misses/u,0,0.00,,\n570536,,cpu_core/cache-misses:u/,9,95.00,,\n"
                   "7,,syscalls:sys_enter_futex,9,100.00,,\n<not supported>,,cpu_atom/LLC-loads/,0,0.00,,\n")
    assert (counts["cache-misses"].value, counts["cache-misses"].user_only) == (570536, True)
    assert counts["cache-misses"].parts["cpu_atom"].state == "not counted" and counts["syscalls:sys_enter_futex"].value == 7
    told = "\n".join(problems(counts))
    assert "LLC-loads of cpu_atom: not supported" in told and "not counted" not in told  # it never ran on that kind of core


def test_failures_of_perf_say_what_helps() -> None:
    assert "perf_event_paranoid=-1" in failure(recorded("denied")) and parse(recorded("denied")) == {}
    assert "another kernel version (5.15.0-91" in failure("WARNING: perf not found for kernel 5.15.0-91\n\n  You may need")
    assert failure("") == "perf failed: without a word"
    assert failure("Error:\n switch `b' is not available\n Usage: perf") == "perf failed: switch `b' is not available"


def test_reports_of_perf_and_cachegrind() -> None:
    found = hot_functions("# Overhead|Symbol|Shared Object\n 6.51%  |[k] _raw_spin  |[kernel.kallsyms]  \n"
                          " 1.50%  |[.] f(std::pair<int, int>, char)  |quintet-bench  \n")
    assert [(f["symbol"], f["object"], f["in_kernel"]) for f in found] == [
        ("_raw_spin", "[kernel.kallsyms]", True), ("f(std::pair<int, int>, char)", "quintet-bench", False)]
    waits = lock_waits(" contended   total wait  max wait  avg wait  type   caller\n   1  840 ns  840 ns  840 ns  mutex   \n"
                       "   72    1.14 ms 400.06 us  15.90 us  spinlock   wake_up_q+0x33\n")
    assert [(w["waits"], w["wait_us"], w["caller"]) for w in waits] == [(72, 1140, "wake_up_q+0x33"), (1, 0.84, "")]
    assert cachegrind_counts("LL refs:  1 ( 1 rd )\nLL misses: 1\nLL refs:  53,829 ( 46,927 rd)\nLL misses:  22,709 (1 rd)\n"
                             ) == (53829, 22709)
    with pytest.raises(RunError, match="counted nothing: valgrind: no such tool"):
        cachegrind_counts("valgrind: no such tool\n")


def test_caches_of_the_machine_have_powers_of_two_of_sets(tmp_path: pathlib.Path) -> None:
    assert machine_caches(str(tmp_path)) is None
    names = ("level", "type", "size", "ways_of_associativity", "coherency_line_size")
    for index, values in enumerate(("1 Data 48K 12 64", "1 Instruction 32K 8 64", "2 Unified 2048K 16 64",
                                    "3 Unified 30720K 20 64")):
        (tmp_path / f"index{index}").mkdir()
        for name, value in zip(names, values.split()):
            (tmp_path / f"index{index}" / name).write_text(f"{value}\n")
    assert machine_caches(str(tmp_path)) == {"I1": (32768, 8, 64), "D1": (49152, 12, 64), "LL": (32768 * 20 * 64, 20, 64)}


def test_differences_of_samples() -> None:
    before = {"wall_s": 0, "page_faults": 10, "voluntary_switches": 100, "run_queue_us": 1000, "threads": {"1": ()}}
    after = {"wall_s": 2, "page_faults": 30, "voluntary_switches": 500, "run_queue_us": 3000, "threads": {"1": (), "2": ()}}
    found = per_request(before, after, 100, 2)
    assert found == {"page_faults_per_request": 0.2, "voluntary_switches_per_request": 4, "run_queue_us_per_request": 20,
                     "wall_s_per_request": 0.02}  # this kernel does not tell the others
    assert per_request(before, after, 100, 1)["voluntary_switches_per_request"] == 2  # the client measured half of the time
    assert "run_queue_us_per_request" not in per_request(after, before | {"wall_s": 4}, 100, 2)  # thread 2 has ended


def test_samples_of_a_process() -> None:
    before, after = sample(os.getpid()), sample(os.getpid())
    assert min(spent_between(before, after)[key] for key in ("cpu_s", "wall_s")) > 0 and before["rss"] > 1e6
    assert OF_THREADS.keys() - {"migrations"} <= after.keys() and after["threads"][str(os.getpid())][1] > 0
    with pytest.raises((RunError, OSError)):
        sample(0x7ffffff0)


def test_the_table_has_published_rows_and_the_sign_of_the_change() -> None:
    figures = [{"futex_per_request": value} for value in (0.1, 0.11, 0.12)] + [{"migrations_per_request": 0.004}]
    subjects = [subject_of("echo", server, [{"cache": cache(
        100_000, count, "hardware", cpu_s=1.5, elapsed_s=2.0, requests=10_000)} for count in misses] + more)
        for server, misses, more in ((BEFORE, (5000, 5200), figures), ("loop_per_thread", (4000, 4100), []),
                                     ("loop_per_thread_pool", (5100, 6000), []))]
    document = Document("study", "1", {}, {}, [])
    table = re.sub(" +", " ", study_table(document, subjects, ["hardware counters: none"]))
    for part in ("5.200 % 10.0 0.520", "4.765 % - -", "3.787 % - -", "-0.98 published: MongoDB",
                 "4.00 failed failed /proc/PID/task/*/sched", "Not measured:\n hardware counters: none\n",
                 "to loop_per_thread the number of misses for a request falls from 0.520 to 0.410; the miss rate falls from",
                 "to loop_per_thread_pool the number of misses for a request rises from 0.520 to 0.600 (within the noise)",
                 "misses falls from 1,515,770,600 to 1,344,188,577; the miss rate falls from 4.765 % to 3.787 %."):
        assert part in table, f"{part} is not in\n{table}"
    assert "page faults" not in table and changes(subjects[1:]) == []


def test_the_shares_of_locks_and_scheduler_are_named() -> None:
    names = ("_raw_spin_unlock_irqrestore", "pthread_mutex_lock@@GLIBC_2.2.5", "update_curr", "finish_task_switch.isra.0",
             "__futex_wait", "kv::store::get")
    found = [{"share": 2 ** -n, "symbol": name} for n, name in enumerate(names)]
    assert {key: share_of(found, words) for key, words in SHARES.items()} == {
        "locks_share": 1.5, "scheduler_share": 0.375, "futex_share": 0.0625}


def test_commands_of_kv() -> None:
    assert kv._commands(kv.GET, kv.np.array([7, 1234567890])) == kv.GET % 7 + kv.GET % 1234567890

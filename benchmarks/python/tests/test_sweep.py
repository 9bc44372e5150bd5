# SPDX-License-Identifier: BSL-1.0
"""The values of each axis; who leads from where on, and whether a curve has the published shape."""
import pytest
from conftest import made_up
from quintet_bench import plan, runner
from quintet_bench.build import Build
from quintet_bench.commands import sweep
from quintet_bench.commands.sweep import AXES, conclude, parse_base, parse_values
from quintet_bench.commands.sweep import PUBLISHED, Curve, Point, leads, shape
from quintet_bench.errors import UsageError
from quintet_bench.results import Document, Result, summarise


def curve(medians: dict[float, float], noise: float = 0.01, noisy: tuple[float, ...] = ()) -> Curve:
    """Rounds that are all within 1 % of the median, or within `noise` at the noisy values; none: at all values."""
    part = {value: noise if value in (noisy or medians) else 0.01 for value in medians}
    return {value: Point((m * (1 - part[value]), m, m * (1 + part[value]))) for value, m in medians.items()}


# One thread needs the handler's time and 5 us for a request; two threads half of the handler's time and 20 us.
ONE, TWO = ({us: 1e6 / (cost + us * part) for us in (0, 10, 30, 100, 1000)} for cost, part in ((5, 1), (20, 0.5)))


def table(axis: sweep.Axis, results: list[Result]) -> str:
    document = Document("sweep", "", {}, {"axis": axis.name}, results)
    return sweep.table(summarise(results), document.figures() | sweep.compose(document))


@pytest.mark.parametrize("name, text, values", [
    ("connections", "100,5,5,20000", [5, 100, 20_000]), ("size", "64k,8,4k", [8, 4096, 65_536]),
    ("handler-us", "0,1ms,50000,0.2ms,30us", [0, 30, 200, 1000, 50_000])])
def test_values_are_sorted_and_each_is_taken_once(name: str, text: str, values: list[int]) -> None:
    assert parse_values(AXES[name], text) == values


@pytest.mark.parametrize("name, text", [
    ("connections", "5,5"), ("connections", "1,,2"), ("threads", "1,1025"), ("handler-us", "0us,0.5us")])
def test_wrong_values_are_refused(name: str, text: str) -> None:
    with pytest.raises(UsageError, match="--values: "):
        parse_values(AXES[name], text)


def test_every_axis_takes_its_own_defaults(build: Build) -> None:
    for axis in AXES.values():
        base, values = parse_base(axis, build, axis.workload), parse_values(axis, axis.values)
        key = {"loops": "threads", "handler_us": "cost_us"}.get(axis.field, axis.field)
        assert [getattr(axis.apply(base, value), key) for value in values] == values
    assert AXES["handler-us"].apply(build.workload("blocking"), 1500).name == "blocking:1500us"  # tells the server
    for name, wrong in (("handler-us", "cpu:200us"), ("size", "echo,large"), ("size", "timestamp")):
        with pytest.raises(UsageError, match="--workload: "):
            parse_base(AXES[name], build, wrong)


def test_noise_changes_no_lead() -> None:
    both = {"a": curve({1: 100, 2: 105, 3: 100}, 0.1), "b": curve({1: 102, 2: 101, 3: 103}, 0.1)}
    assert leads(both) == [{"from": 1, "server": "b", "as_good": ["a"]}]
    # At 1 and 4 chance has separated all rounds, but by less than rounds usually move.
    both = {"a": curve({1: 104, 2: 100, 3: 100, 4: 100}, 0.1, (2, 3)), "b": curve({1: 100, 2: 101, 3: 99, 4: 104}, 0.1, (2, 3))}
    assert len(leads(both)) == 1


def test_who_leads_from_where_on() -> None:
    also = {us: speed * 0.999 for us, speed in TWO.items()}
    assert leads({"one": curve(ONE), "two": curve(TWO), "also": curve(also)}) == [
        {"from": 0, "server": "one", "as_good": []}, {"from": pytest.approx(30), "server": "two", "as_good": ["also"]}]
    assert leads({}) == []


@pytest.mark.parametrize("medians, rise, fall, rises, falls", [
    (PUBLISHED, "100 % of its peak at 30 connections, 5 % at 1 connection (", "45 % of its", True, True),
    ({1: 95, 30: 100, 5000: 76}, "100 %", "76 %", False, False),
    ({1: 10, 100: 100, 1000: 50}, "not judged", "not judged", None, None),
    ({1: 10, 30: 89, 300: 100, 5000: 75}, "89 % of its peak at 30 connections", "75 %", False, True)])
def test_shapes(medians: dict[float, float], rise: str, fall: str, rises: bool | None, falls: bool | None) -> None:
    found = shape(curve(medians))
    assert [part["sentence"].startswith(f"the {which}: {how}") for part, which, how in
            zip(found, ("rise", "fall"), (rise, fall))] == [True, True]
    assert [part["met"] for part in found] == [rises, falls]
    assert [bool(part["demand"]) for part in found] == [rises is not None, falls is not None]


def test_rounds_that_disagree_leave_the_shape_open() -> None:
    noisy = {1: Point((10, 11)), 30: Point((100, 80)), 300: Point((100, 100)), 5000: Point((50, 90))}
    assert [part["met"] for part in shape(noisy)] == [None, None]


def test_table_and_conclusions_of_results() -> None:
    results = [made_up(round=number, model=model, connections=connections, requests_per_s=connections * 100 + number, failed=0,
                       client_cpu_fraction=0.99 if connections == 10 else 0.5, error="gone" if model[0] == "t" else None)
               for number in (1, 2) for connections in (10, 1) for model in ("single_reactor", "thread_per_connection")]
    summary, axis = summarise(results), AXES["connections"]
    found, text = conclude(axis, summary), table(axis, results)
    assert [(part["server"], part["part"], part["met"]) for part in found["shape"]] == [
        ("single_reactor", "rise", True), ("single_reactor", "fall", None)] and found["leads"] == []
    for part in ("echo: 8 B, 1 in flight for each", "1,002*", "190,000", "#" * 24, "failed: gone", "where the client was"):
        assert part in text


def test_what_is_not_pinned_has_as_many_loops_on_all_cpus(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (plan, runner):
        monkeypatch.setattr(module, "allowed_cpus", lambda: [0, 1, 2, 3])
    s, work = plan.Settings("/nowhere"), build.workload("echo")
    runs = [plan.Run(work, plan.Contender(model="loop_per_thread", pinning=pinning), 1) for pinning in (None, "off")]
    pinned, free = (runner.describe(s, run) for run in runs)
    assert (pinned["server_cpus"], pinned["client_cpus"]) == ("2-3", "0-1")
    assert (free["server_cpus"], free["client_cpus"], free["loops"]) == ("0-3", "0-3", pinned["loops"])
    assert [command[command.index("--threads") + 1] for command in (
        runner.load_command(s, run, about, "x") for run, about in zip(runs, (pinned, free)))] == ["2", "2"]
    results = [one | {"round": number, "requests_per_s": 100 - 10 * (one is free), "migrations_per_request": one is free}
               for number in (1, 2) for one in (pinned, free)]
    pair, = conclude(AXES["connections"], summarise(results), results)["ratios"]
    assert pair["median"] == pytest.approx(10 / 9, rel=1e-4) and pair["reference"] == "loop_per_thread (pinning off)"


def test_two_kinds_of_client_are_compared_at_each_value() -> None:
    results = [made_up(round=number, connections=connections, client=client, requests_per_s=speed + number, failed=0,
                       client_cpu_us_per_request=cpu, client_cpu_fraction=0.8, server_busy_fraction=busy)
               for number in (1, 2) for connections in (100, 300)
               for client, speed, cpu, busy in ((None, 180, 6, 0.98), ("blocking", 100, 12, 0.7))]
    summary, axis = summarise(results), AXES["connections"]
    sentence = ("single_reactor, 100 connections: 1.79 times the requests/s of single_reactor (blocking client), "
                "100 connections (rounds from 1.78 to 1.79); client CPU a request 6.00 us and 12.0 us, bottleneck server CPU "
                "and none. Were the client the only limit, it would be 2.00 times.")
    assert sentence in conclude(axis, summary, results)["verdicts"]
    assert f"-> {sentence}" in table(axis, results) and "client CPU" in table(axis, results)
    assert conclude(axis, summary, results[::2]).get("ratios") is None  # no round has both


@pytest.mark.parametrize("speeds, verdict", [
    ((100, 80, 70), "serve more than every other number; the bottleneck with them: client CPU."),
    ((100, 80, 101), "cannot be told apart from some other number"), ((100, 80, 150), "serve less than another number")])
def test_the_fewest_client_threads_are_compared_with_each_other_number(speeds: tuple[float, ...], verdict: str) -> None:
    results = [made_up(round=number, client_threads=threads, requests_per_s=speed + (number - 2) * (-1) ** threads,
                       client_cpu_us_per_request=threads * 5, client_cpu_fraction=0.99, server_busy_fraction=0.5)
               for number in (1, 2, 3) for threads, speed in zip((1, 2, 4), speeds)]
    said = conclude(AXES["client-threads"], summarise(results), results)
    assert any(f"single_reactor: the fewest client threads (1) {verdict}" in sentence for sentence in said["verdicts"])
    assert any("client threads: 1.25 times the requests/s of single_reactor, 2 client threads (rounds" in sentence and
               "client CPU a request 5.00 us and 10.0 us, bottleneck client CPU and client CPU." in sentence
               for sentence in said["verdicts"])
    assert [(ratio["client_threads"], ratio["median"]) for ratio in said["ratios"]] == [(2, 1.25), (4, pytest.approx(
        speeds[0] / speeds[2], rel=0.02))]

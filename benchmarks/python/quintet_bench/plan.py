# SPDX-License-Identifier: BSL-1.0
"""The runs, their order and their CPUs."""
import bisect
import dataclasses
import random
from typing import Any, NamedTuple

from .build import Workload
from .machine import allowed_cpus

MODELS = ("thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread", "loop_per_thread_pool")
BY_HAND = ("epoll", "epoll-edge", "blocking")
COUNTERPARTS = {"single_reactor": "epoll", "thread_per_connection": "blocking"}  # of models, hand-written
MOST_BLOCKING_CONNECTIONS = 1000  # the hand-written blocking server has a thread for each
MOST_CLIENT_THREADS = 4000          # likewise the blocking client


@dataclasses.dataclass(frozen=True)
class Contender:
    """A measured server: a model of Quintet, or a peer. The rest belongs to a model only."""
    model: str | None = None
    peer: str | None = None
    engine: str = "automatic"
    handler: str = "callback"
    accept: str = "main_reactor"
    allocator: str | None = None        # preloaded
    receive_size: int | None = None     # bytes that one receive call takes at most; None: as the server has it
    client: str | None = None           # the kind of its client; None: epoll
    transport: str | None = None        # tcp, unix or shm; None: tcp, and the server listens nowhere else
    spin_us: int | None = None          # how long server and client poll before they sleep; None: not at all
    pinning: str | None = None          # off: server and client may use all CPUs; None: as place() says

    @property
    def label(self) -> str:
        """What is not the default appears in parentheses."""
        if self.peer:
            return f"hand-written {self.peer}" if self.peer in BY_HAND else self.peer
        usual = ("automatic", "epoll", "blocking", "callback", "main_reactor", None)
        words = (self.engine, self.handler, self.accept, self.allocator, self.transport, self.spin_us and "spinning",
                 self.receive_size and f"{self.receive_size} B a receive", self.client and f"{self.client} client",
                 self.pinning and f"pinning {self.pinning}")
        details = [word for word in words if word and word not in usual]
        return f"{self.model} ({', '.join(details)})" if details else self.model or "?"

    def serves(self, work: Workload) -> bool:
        """A peer only echoes. Loops by CPU need a CPU each. A blocking client has a thread for each connection."""
        if self.client == "blocking" and work.connections > MOST_CLIENT_THREADS:
            return False
        if self.accept == "reuse_port_cpu" and (work.threads or 1) > len(allowed_cpus()):
            return False
        return not self.peer or (work.kind == "echo" and
                                 (self.peer != "blocking" or work.connections <= MOST_BLOCKING_CONNECTIONS))


class UsualRuns(NamedTuple):
    """A command's defaults, in seconds. What is 0 is no option of the command; --seed comes with --warm-up."""
    rounds: int = 0
    duration_s: float = 0
    warm_up_s: float = 0


@dataclasses.dataclass
class Settings:
    """What to measure, and how. Times are in seconds."""
    program: str
    workloads: list[Workload] = dataclasses.field(default_factory=list)
    contenders: list[Contender] = dataclasses.field(default_factory=list)
    rounds: int = 3
    duration_s: float = 1.0
    warm_up_s: float = 0.2
    seed: int = 0                       # of the random order of runs
    quick: bool = False
    counters: bool = True               # a separate pass counts system calls
    one_cpu: bool = False               # the server has a single CPU, for contenders that use no more
    shared_cpus: bool = False           # server and client may both use all CPUs
    loops: int | None = None            # default: one for each CPU of the server
    workers: str = "1..4"
    offload: str = "automatic"
    json_file: str | None = None
    html_file: str | None = None


@dataclasses.dataclass(frozen=True)
class Run:
    work: Workload
    who: Contender
    round: int                          # from 1; 0: the pass that counts system calls

    @property
    def counting(self) -> bool:
        return self.round == 0

    @property
    def label(self) -> str:
        counts = ((self.work.threads, "threads"), (self.work.client_threads, "client threads"))
        threads = "".join(f", {count} {what}" for count, what in counts if count)
        return f"{self.work.title()} {self.who.label}{threads} " + ("(counting)" if self.counting else f"round {self.round}")

    def measured_s(self, s: Settings) -> float:
        if self.work.connections > 1000:  # it takes that long until each of thousands had a few turns
            return max(1.0, s.duration_s)
        return min(0.25, s.duration_s) if self.counting else s.duration_s

    def warm_up_s(self, s: Settings) -> float:
        return max(0.5, s.warm_up_s) if self.work.connections > 1000 else s.warm_up_s

    def expected_s(self, s: Settings) -> float:
        starting = 0.15 + 0.0002 * self.work.connections
        return self.measured_s(s) + self.warm_up_s(s) + starting


def place(s: Settings, work: Workload) -> tuple[list[int], list[int]]:
    """Returns the CPUs of the server and of the client. If I/O is measured, they are kept apart. If the handler's work is
    measured, the server needs every CPU to show its parallelism, and the client needs little."""
    allowed = allowed_cpus()
    if s.shared_cpus:
        return allowed, allowed
    server = client = allowed
    if work.kind in ("echo", "timestamp", "framed") and len(allowed) >= 2:
        # The client gets the first half: interrupts and other programs tend to run on CPU 0.
        client, server = allowed[:len(allowed) // 2], allowed[len(allowed) // 2:]
    return (server[:1] if s.one_cpu else server), client


def make_plan(s: Settings) -> list[Run]:
    """Round by round, and within a round workload by workload. The contenders of a workload run in random order but close
    together, since a shared machine's noise changes within seconds. The counting pass is last."""
    order = random.Random(s.seed)
    plan: list[Run] = []
    for number in [*range(1, s.rounds + 1), *[0] * s.counters]:
        for work in s.workloads:
            runs = [Run(work, who, number) for who in s.contenders if who.serves(work)]
            order.shuffle(runs)
            plan += runs
    return plan


def expected_s(s: Settings, plan: list[Run]) -> float:
    return sum(run.expected_s(s) for run in plan)


def fit_within(s: Settings, limit_s: float) -> None:
    """Sets the duration so that the whole plan takes about that long, but at least 100 ms and at most 10 s a run."""
    plan, steps = make_plan(s), range(100, 10_001)      # milliseconds
    fitting = bisect.bisect_right(steps, limit_s, key=lambda ms: expected_s(dataclasses.replace(s, duration_s=ms / 1e3), plan))
    s.duration_s = steps[max(0, fitting - 1)] / 1e3


def contenders_of(models: list[str], with_peers: bool, **more: Any) -> list[Contender]:
    """The models and, with peers, the hand-written servers that match them."""
    peers = [peer for model, peer in COUNTERPARTS.items() if with_peers and model in models]
    return [Contender(model=model, **more) for model in models] + [Contender(peer=peer) for peer in peers]

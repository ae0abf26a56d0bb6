"""What the product asks of its database and of ZooKeeper, counted in this run.

Statements are those of the product's own tasks and ticks on SQLite, over the fakes that its tests
use; ZooKeeper's operations are counted by a client that only records. Counts do not depend on the
machine. What grows with clusters or hosts is measured at two sizes: a fixed part and a slope.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from django.conf import settings
from django.db import connection

from controlplane.clusters.connections import use_gateways
from controlplane.clusters.fake_hosts import FakeHosts
from controlplane.clusters.hosts import ZooKeeperHosts, use_hosts
from controlplane.clusters.sealing import host_keys
from controlplane.common.lease_keeper import LeaseKeeper, use_keeper
from controlplane.gateway.fake import FakeGateway
from controlplane.operations import engine, outbox
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.support import World, cluster_make, observed, tenant_make
from tests.dataplane.broker.controller.fake_brokers import FakeBroker, Network, active, until

BOUNDS: Final = ("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")
NOT_ASKED: Final = frozenset({"observed-due"})
"""Measured by itself: a pass for each cluster."""
FEW, MANY = 2, 8
WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Linear:
    """So many whatever the size, and so many more with each of it."""

    fixed: float
    each: float

    def at(self, size: float) -> float:
        return self.fixed + self.each * size

    @classmethod
    def through(cls, small: tuple[float, float], large: tuple[float, float]) -> "Linear":
        """Of (size, count) at two sizes."""
        each = (large[1] - small[1]) / (large[0] - small[0])
        return cls(small[1] - each * small[0], each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Statements of the database, operations of ZooKeeper.

    Attributes:
        beat: by task of the schedule, statements of one round by clusters; its period in seconds.
        not_measured: tasks of the schedule that could not run here, and why.
        tick: statements of a tick of a roll, on average.
        observe: statements of a pass over a cluster in which nothing has changed.
        questions: what such a pass asks of the gateway.
        hosts_read: operations of one read of all hosts, by hosts.
        fail_over: writes and reads of the controller when a broker ends, by partitions it led.
        registration: operations of all brokers when one registers.
    """

    beat: dict[str, tuple[Linear, float]]
    not_measured: dict[str, str]
    tick: float
    observe: float
    questions: int
    hosts_read: Linear
    fail_over: Linear
    registration: float

    def beat_per_s(self, clusters: int) -> float:
        return sum(cost.at(clusters) / every_s for cost, every_s in self.beat.values())


class Statements:
    """Counts while it is entered, but for where transactions begin and end."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        self.count += not sql.startswith(BOUNDS)
        return execute(sql, params, many, context)


def statements_of(work: Callable[[], object]) -> int:
    counted = Statements()
    with connection.execute_wrapper(counted):
        work()
    return counted.count


def measure() -> Costs:
    """Needs an empty database with its tables (`database`)."""
    with _world() as world:
        tick, observe, questions = _of_a_cluster(world)
        beat, not_measured = _of_beat(world)
    fail_over, registration = asyncio.run(_of_a_controller())
    return Costs(
        beat=beat,
        not_measured=not_measured,
        tick=tick,
        observe=observe,
        questions=questions,
        hosts_read=_of_hosts(),
        fail_over=fail_over,
        registration=registration,
    )


@contextmanager
def database() -> Iterator[None]:
    """SQLite in memory, with every table; afterwards it is gone."""
    from django.test.utils import get_runner, setup_test_environment, teardown_test_environment

    setup_test_environment()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    made = runner.setup_databases()
    try:
        yield
    finally:
        runner.teardown_databases(made)
        teardown_test_environment()


@contextmanager
def _world() -> Iterator[World]:
    gateway, hosts = FakeGateway(brokers=4), FakeHosts()
    for host in hosts.known:
        host_keys(host.host_id)
    tenant = tenant_make("fleet")
    use_gateways(lambda _cluster: gateway)
    use_hosts(hosts)
    outbox.use_publisher(lambda *_message: None)
    use_keeper(LeaseKeeper(in_background=False))
    try:
        yield World(tenant=tenant, cluster=cluster_make(tenant), gateway=gateway, hosts=hosts)
    finally:
        use_keeper(None)
        outbox.use_publisher(None)
        use_hosts(None)
        use_gateways(None)


def _of_a_cluster(world: World) -> tuple[float, float, int]:
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4, None)
    world.gateway.add_topic("orders", partitions=6, rf=3)
    observed(world)
    observe = statements_of(lambda: observed(world))
    questions = _questions(world)
    operation = world.start(world.plan("cluster.restart", canary_s=0))
    ticks, count = 0, 0
    while operation.state in ACTIVE_STATES:
        count += statements_of(lambda: engine.tick(operation.id))
        ticks += 1
        operation.refresh_from_db()
    if operation.state != SUCCEEDED:
        raise RuntimeError(f"the roll ended {operation.state}: {operation.error}")
    return count / ticks, observe, questions


class _Asked:
    """Counts what is asked of a gateway, by whichever way of `at` or none."""

    def __init__(self, inner: Any, counts: list[str]) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def asked(*args: Any, **kwargs: Any) -> Any:
            answer = found(*args, **kwargs)
            if name == "at":
                return _Asked(answer, self._counts)
            self._counts.append(name)
            return answer

        return asked


def _questions(world: World) -> int:
    counts: list[str] = []
    use_gateways(lambda _cluster: _Asked(world.gateway, counts))  # type: ignore[arg-type,return-value] # it passes everything on
    observed(world)
    use_gateways(lambda _cluster: world.gateway)
    return len(counts)


def _of_beat(world: World) -> tuple[dict[str, tuple[Linear, float]], dict[str, str]]:
    """Each task of the schedule, as often as its period says, at two numbers of clusters."""
    counts: dict[str, list[tuple[float, float]]] = {}
    failed: dict[str, str] = {}
    for size in (FEW, MANY):
        for number in range(size):
            name = f"cluster-{number}"
            if not world.tenant.clusters.filter(name=name).exists():
                cluster_make(world.tenant, name)
        clusters = world.tenant.clusters.count()
        for name, task in _tasks():
            try:
                task()  # what the first round finds, the others do not
                counts.setdefault(name, []).append((clusters, statements_of(task)))
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"[:120]
    measured = {
        name: (Linear.through(*found), float(settings.CELERY_BEAT_SCHEDULE[name]["schedule"]))
        for name, found in counts.items()
        if len(found) == 2 and name not in failed
    }
    return measured, failed


def _tasks() -> Iterator[tuple[str, Callable[[], object]]]:
    from controlplane.celery import app

    app.loader.import_default_modules()
    for name, entry in sorted(settings.CELERY_BEAT_SCHEDULE.items()):
        is_steady = isinstance(entry["schedule"], int | float)
        if name not in NOT_ASKED and is_steady and entry["task"] in app.tasks:
            yield name, app.tasks[entry["task"]].run


# -- ZooKeeper
class _Answer:
    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self, timeout: float | None = None) -> Any:
        del timeout
        return self._value


class RecordingClient:
    """An ensemble with so many hosts that are alive; each question is counted."""

    def __init__(self, hosts: int) -> None:
        self._names = [f"host-{number}" for number in range(hosts)]
        self.asked: list[str] = []

    def get_children_async(self, path: str) -> _Answer:
        self.asked.append(path)
        return _Answer([] if path.endswith("/desired") else self._names)

    def exists_async(self, path: str) -> _Answer:
        self.asked.append(path)
        return _Answer(SimpleNamespace(mtime=0, ctime=0, dataLength=2))

    def get_async(self, path: str) -> _Answer:
        self.asked.append(path)
        name = path.rsplit("/", 1)[-1]
        data = f'{{"host_id":"{name}","rack":"r","address":"a","port_range":[9000,9019]}}'
        return _Answer((data.encode(), SimpleNamespace(mtime=0, dataLength=len(data))))


class _RecordedHosts(ZooKeeperHosts):
    """The product's reads over a client that records."""

    def __init__(self, client: RecordingClient) -> None:
        super().__init__("recorded")
        self.recorded = client

    def _connected(self, wait: Any) -> Any:
        del wait
        return self.recorded


def _of_hosts() -> Linear:
    counts = []
    for size in (FEW, MANY):
        client = RecordingClient(size)
        if len(_RecordedHosts(client).hosts()) != size:
            raise RuntimeError("the hosts were not read")
        counts.append((float(size), float(len(client.asked))))
    return Linear.through(*counts)


class RecordingCoordinator:
    """What a broker and its controller ask of ZooKeeper; of a multi each part counts."""

    ASKS: Final = frozenset({"get", "exists", "children", "create", "set", "delete", "multi"})

    def __init__(self, zookeeper: FakeZooKeeper) -> None:
        self._inner = zookeeper.connect()
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self.ASKS:
            return found

        def asked(*args: Any, **kwargs: Any) -> Any:
            self.asked += len(args[0]) if name == "multi" else 1
            return found(*args, **kwargs)

        return asked


async def _of_a_controller() -> tuple[Linear, float]:
    """Three brokers with real controllers; what one's end and its return ask, in operations."""
    found, registration = [], 0.0
    for led in (10, 60):
        with tempfile.TemporaryDirectory(prefix="fleet-") as directory:
            ends, registration = await _controller_at(led, Path(directory))
        found.append((float(led), ends))
    return Linear.through(*found), registration


async def _controller_at(led: int, directory: Path) -> tuple[float, float]:
    zookeeper, network = FakeZooKeeper(), Network()  # type: ignore[no-untyped-call] # tests carry no types
    coordinators = [RecordingCoordinator(zookeeper) for _ in range(4)]
    brokers = [
        FakeBroker(number, coordinators[number - 1], network, directory)  # type: ignore[no-untyped-call] # likewise
        for number in (1, 2, 3)
    ]
    for broker in brokers:
        await broker.start()
    await until(lambda: active(brokers), WAIT_S, "a controller")
    await until(lambda: all(len(b.image.brokers) == 3 for b in brokers), WAIT_S, "images")
    controller = active(brokers)
    dead = next(broker for broker in brokers if broker is not controller)
    others = [broker.id for broker in brokers if broker is not dead]
    placed = dict.fromkeys(range(led), (dead.id, *others))
    request = TopicRequest("led", assignments=placed)
    await controller.host.submit(
        lambda c: c.topic_creation.create_topics([request], validate_only=False)
    )
    await until(lambda: "led" in controller.image.topics, WAIT_S, "the topic")
    asked = sum(each.asked for each in coordinators)
    await dead.die()
    zookeeper.end_session(dead.coordinator.session_id)

    def is_led() -> bool:
        return all(
            state.leader not in (-1, dead.id) for state in controller.image.topics["led"].partitions
        )

    await until(is_led, WAIT_S, "new leaders")
    ends = sum(each.asked for each in coordinators) - asked
    asked += ends
    again = FakeBroker(dead.id, coordinators[3], network, directory)  # type: ignore[no-untyped-call] # likewise
    await again.start()
    await until(lambda: "led" in again.image.topics, WAIT_S, "its image")
    returns = sum(each.asked for each in coordinators) - asked
    for broker in (*(b for b in brokers if b is not dead), again):
        await broker.stop()
    await dead.configs.stop()  # its process would have gone with it
    return float(ends), float(returns)

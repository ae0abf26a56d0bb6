"""A real agent process, real brokers, real ZooKeeper: the whole life of a provisioned broker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest
from cryptography.fernet import Fernet
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError, NoError

from dataplane.agent.processes import start_ticks_of
from dataplane.config import parse_properties
from dataplane.ports.coordinator import NoNodeError
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, free_port
from dataplane.runtime.zookeeper import ZooKeeperCoordinator

pytestmark = pytest.mark.cluster

KEY = "cl_test-7"
DESIRED = f"/penstock/hosts/h1/desired/{KEY}"
OBSERVED = f"/penstock/hosts/h1/observed/{KEY}"
IDS = "/penstock/clusters/cl_test/brokers/ids/7"


@pytest.fixture
async def stage(tmp_path):
    """ZooKeeper, a session with it, and a function that starts an agent."""
    zookeeper = EmbeddedZooKeeper(tmp_path / "zk", fsync=False)
    zookeeper.start()
    session = await ZooKeeperCoordinator.connect(zookeeper.connect_string)
    key = Fernet.generate_key()
    (tmp_path / "fernet.key").write_bytes(key)
    agents = []

    def start_agent(*options):
        with (tmp_path / "agent.log").open("ab") as log:
            agents.append(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "dataplane", "agent", "--host-id", "h1"),
                        *("--zookeeper", zookeeper.connect_string),
                        *("--data-dir", str(tmp_path / "brokers")),
                        *("--key-file", str(tmp_path / "fernet.key")),
                        *("--address", "127.0.0.1", *options),
                    ],
                    stderr=log,
                )
            )
        return agents[-1]

    stage = type("Stage", (), {})()
    stage.zk, stage.start_agent, stage.dir = session, start_agent, tmp_path
    stage.port, stage.zookeeper = free_port(), zookeeper.connect_string

    async def want(state, generation=1, log_dirs=(), given_up=(), **config):
        spec = {
            "v": 1,
            "cluster_id": "cl_test",
            "broker_id": 7,
            "generation": generation,
            "state": state,
            "config": {
                "listeners": f"PLAINTEXT://127.0.0.1:{stage.port}",
                "zookeeper.connect": f"{zookeeper.connect_string}/penstock/clusters/cl_test",
                "offsets.topic.replication.factor": "1",
                **config,
            },
            "log_dirs": [*log_dirs],
            "given_up": [*given_up],
            "secret": Fernet(key).encrypt(json.dumps({"num.partitions": "5"}).encode()).decode(),
        }
        data = json.dumps(spec).encode()
        if await session.exists(DESIRED):
            await session.set(DESIRED, data)
        else:
            await session.create(DESIRED, data, make_parents=True)

    async def observed(later_than=None, **wanted):
        """Waits until the agent reports this, with a newer state than the report `later_than`."""
        report = {}
        since_ms = later_than["since_ms"] if later_than else -1
        try:
            async with asyncio.timeout(20):
                while True:
                    if await session.exists(OBSERVED):
                        report = json.loads((await session.get(OBSERVED))[0])
                        is_wanted = all(report[name] == value for name, value in wanted.items())
                        if is_wanted and report["since_ms"] > since_ms:
                            return report
                    await asyncio.sleep(0.02)
        except TimeoutError:
            log = (tmp_path / "agent.log").read_text()
            raise AssertionError(f"wanted {wanted}, last {report}\n{log}") from None

    stage.want, stage.observed = want, observed
    yield stage
    for agent in agents:
        if agent.poll() is None:
            agent.terminate()
            agent.wait(30)
    await session.close()
    zookeeper.stop()


async def registered(zk):
    async with asyncio.timeout(20):
        while (stat := await zk.exists(IDS)) is None:
            await asyncio.sleep(0.01)
    return stat


async def test_a_second_agent_of_the_host_id_is_refused_in_one_line(stage):
    stage.start_agent()
    await stage.want("running")
    report = await stage.observed(state="running", generation=1)
    before = await stage.zk.get("/penstock/hosts/h1")
    second = stage.start_agent("--data-dir", str(stage.dir / "other"), "--address", "10.0.0.9")
    assert await asyncio.to_thread(second.wait, 60) == 2
    line = (stage.dir / "agent.log").read_text().splitlines()[-1]
    assert line.startswith("penstock agent: host id h1 belongs to data directory")
    assert line.endswith("that agent is alive; this one needs another --host-id")
    assert await stage.zk.get("/penstock/hosts/h1") == before
    assert (await stage.observed(state="running"))["pid"] == report["pid"]


async def test_life_of_a_provisioned_broker(stage):
    zk, agent = stage.zk, stage.start_agent()
    await stage.want("running")
    report = await stage.observed(state="running", generation=1)
    host = json.loads((await zk.get("/penstock/hosts/h1"))[0])
    assert host["port_range"] == [19100, 19999]
    assert (await zk.exists("/penstock/hosts/h1/alive")).ephemeral_owner
    before = await registered(zk)
    properties = stage.dir / "brokers" / KEY / "broker.properties"
    assert properties.stat().st_mode & 0o777 == 0o600
    assert "num.partitions=5" in properties.read_text()

    # Killed: fenced at once (not after the 18 s session timeout) and back under a new epoch.
    os.kill(report["pid"], signal.SIGKILL)
    loop = asyncio.get_running_loop()
    killed = loop.time()
    while (stat := await zk.exists(IDS)) is not None and stat.czxid == before.czxid:
        await asyncio.sleep(0.005)
    assert loop.time() - killed < 5
    again = await stage.observed(state="running", restarts=1)
    assert again["pid"] != report["pid"]
    assert (await registered(zk)).czxid > before.czxid

    # Another configuration: restarted with it.
    await stage.want("running", generation=2, **{"num.network.threads": "2"})
    changed = await stage.observed(state="running", generation=2)
    assert changed["pid"] != again["pid"]
    assert "num.network.threads=2" in properties.read_text()

    await stage.want("stopped", generation=3)
    await stage.observed(state="stopped", generation=3, pid=None)
    assert start_ticks_of(changed["pid"]) is None
    assert await zk.exists(IDS) is None
    assert (stage.dir / "brokers" / KEY / "data").is_dir()

    await stage.want("deleted", generation=4)
    await stage.observed(state="deleted", generation=4)
    assert not (stage.dir / "brokers" / KEY).exists()
    agent.terminate()
    assert agent.wait(20) == 0
    assert await zk.exists("/penstock/hosts/h1/alive") is None


async def test_a_broker_gets_another_disk_and_gives_it_back_when_it_is_empty(stage):
    disk = stage.dir / "fast"
    stage.start_agent("--extra-data-dir", f"fast={disk}")
    await stage.want("running", log_dirs=["fast"])
    report = await stage.observed(state="running", generation=1)
    said = {each["name"]: each for each in report["log_dirs"]}
    assert said["fast"] == {"name": "fast", "path": f"{disk}/{KEY}/data", "problem": ""}
    await registered(stage.zk)
    bootstrap = f"127.0.0.1:{stage.port}"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        topic = NewTopic("t", 4, 1)
        await asyncio.to_thread(admin.create_topics, [topic])
        assert len(await asyncio.to_thread(_held_in, disk / KEY / "data")) == 2
        # It holds replicas, so it is not taken away, whatever is desired.
        await stage.want("running", generation=2)
        kept = await stage.observed(state="running", generation=2)
        (fast,) = [each for each in kept["log_dirs"] if each["name"] == "fast"]
        assert "still holds replicas" in fast["problem"]
        main = str(stage.dir / "brokers" / KEY / "data")
        moves = {
            ("t", int(name.rpartition("-")[2]), 7): main for name in _held_in(disk / KEY / "data")
        }
        await registered(stage.zk)
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(_moved, admin, moves):
                await asyncio.sleep(0.1)  # until the new process knows its replicas
        async with asyncio.timeout(20):
            while _held_in(disk / KEY / "data"):
                await asyncio.sleep(0.05)
    finally:
        admin.close()
    await stage.want("running", generation=3)
    without = await stage.observed(state="running", generation=3)
    assert [each["name"] for each in without["log_dirs"]] == ["main"]
    assert not (disk / KEY).exists()
    assert len(_held_in(stage.dir / "brokers" / KEY / "data")) == 4


def _moved(admin, moves):
    with contextlib.suppress(KafkaError):
        answer = admin.alter_replica_log_dirs(moves)
        return all(error is NoError for error in answer.values())
    return False


def _held_in(log_dir):
    return [
        path.name for path in log_dir.glob("t-*") if not path.name.endswith(("-delete", "-future"))
    ]


async def test_brokers_outlive_a_killed_agent_and_are_taken_up(stage):
    agent = stage.start_agent()
    await stage.want("running")
    report = await stage.observed(state="running")
    await registered(stage.zk)
    agent.kill()
    agent.wait()
    assert start_ticks_of(report["pid"]) is not None
    agent = stage.start_agent()
    async with asyncio.timeout(20):
        while True:
            # Between the old agent's node and the new one's there may be none.
            with contextlib.suppress(NoNodeError):
                alive, _ = await stage.zk.get("/penstock/hosts/h1/alive")
                if json.loads(alive)["pid"] == agent.pid:
                    break
            await asyncio.sleep(0.05)
    # The old agent's report still stands until the new one has taken the broker up.
    same = await stage.observed(later_than=report, state="running", pid=report["pid"])
    assert same["restarts"] == 0
    # It is not the new agent's child, and still its end is seen and followed up.
    os.kill(report["pid"], signal.SIGKILL)
    again = await stage.observed(state="running", restarts=1)
    assert again["pid"] != report["pid"]
    agent.terminate()
    agent.wait(20)
    assert start_ticks_of(again["pid"]) is None


async def test_tied_brokers_die_with_a_killed_agent(stage):
    agent = stage.start_agent("--brokers-die-with-agent")
    await stage.want("running")
    report = await stage.observed(state="running")
    agent.kill()
    agent.wait()
    async with asyncio.timeout(20):
        while start_ticks_of(report["pid"]) is not None:
            await asyncio.sleep(0.05)


async def test_bad_desired_states_are_reported_not_applied(stage):
    stage.start_agent()
    await stage.want(
        "running", **{"broker.id": "7", "num.partitions": "5", "listeners": "nonsense"}
    )
    report = await stage.observed(state="failed")
    assert "listeners" in report["message"] + " ".join(report["log_tail"])
    await stage.zk.set(DESIRED, b"{")
    await stage.observed(state="failed")
    await stage.want("running", generation=2)
    await stage.observed(state="running", generation=2)


async def test_no_value_and_no_key_brings_settings_along_into_a_brokers_file(stage):
    """Every character at which some program ends a line, in a setting that is free text."""
    properties = stage.dir / "brokers" / KEY / "broker.properties"
    evil = stage.dir / "evil"
    injected = "".join(
        f"{end}log.dirs={evil}{end}super.users=User:mallory{end}zookeeper.connect=x:1/other"
        for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    )
    agent = stage.start_agent()
    await stage.want("running", **{f"num.partitions=1{injected}": "1"})
    assert "not a setting" in (await stage.observed(state="failed"))["message"]
    await stage.want("running", generation=2, **{"min.insync.replicas": f"1{injected}"})
    assert "min.insync.replicas" in (await stage.observed(state="failed", generation=2))["message"]
    assert not properties.exists()

    await stage.want("running", generation=3, **{"broker.rack": f"r1{injected}."})
    await stage.observed(state="running", generation=3)
    stat = await registered(stage.zk)
    assert stat is not None
    node = json.loads((await stage.zk.get(IDS))[0])
    assert node["rack"] == f"r1{injected}.", "the broker itself read one value"
    settings = parse_properties(properties.read_text(encoding="ascii"))
    assert settings["log.dirs"] == str(stage.dir / "brokers" / KEY / "data")
    assert "super.users" not in settings
    assert not evil.exists()
    agent.terminate()
    agent.wait(20)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--port-range", "9-1"], "expected LOW-HIGH"),
        (["--host-id", "a/b"], "expected a plain name"),
    ],
)
def test_bad_arguments_are_one_line(tmp_path, options, said):
    (tmp_path / "k").write_bytes(Fernet.generate_key())
    done = subprocess.run(
        [
            *(sys.executable, "-m", "dataplane", "agent", "--host-id", "h", "--zookeeper", "x:1"),
            *("--data-dir", str(tmp_path / "d"), "--key-file", str(tmp_path / "k"), *options),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1

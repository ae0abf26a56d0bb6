import pytest

from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.broker.controller.fake_brokers import FakeBroker, Network, active, until


@pytest.fixture
async def cluster(tmp_path):
    """`await cluster(1, 2, 3)` starts brokers that share one fake ZooKeeper and elects a controller."""
    zookeeper, network, brokers = FakeZooKeeper(), Network(), []

    async def start(*ids, racks=None, settings=None):
        started = []
        for broker_id in ids:
            broker = FakeBroker(
                broker_id,
                zookeeper.connect(),
                network,
                tmp_path,
                rack=(racks or {}).get(broker_id),
                settings=settings,
            )
            await broker.start()
            brokers.append(broker)
            started.append(broker)
        await until(lambda: active([b for b in brokers if b.reachable]), what="a controller")
        await until(
            lambda: all(b.image.brokers.keys() >= set(ids) for b in brokers if b.reachable),
            what="images",
        )
        return started

    yield start
    for broker in brokers:
        if broker.reachable:
            await broker.stop()

import pytest
from django.conf import settings as configured
from hypothesis import settings

from controlplane.clusters.connections import use_gateways
from controlplane.clusters.fake_hosts import FakeHosts
from controlplane.clusters.hosts import use_hosts
from controlplane.clusters.sealing import host_keys
from controlplane.common.lease_keeper import LeaseKeeper, use_keeper
from controlplane.common.redis_link import LINK
from controlplane.common.tally import TALLY
from controlplane.gateway.fake import FakeGateway
from controlplane.operations import outbox
from tests.controlplane.fillings import FILLINGS
from tests.controlplane.kept_worlds import filled
from tests.controlplane.support import ObedientBrokers, World, cluster_make, tenant_make
from tests.redis_server import RedisServer

# A busy machine is no failure.
settings.register_profile("controlplane", deadline=None)
settings.load_profile("controlplane")


@pytest.fixture(autouse=True)
def no_rate_limits(monkeypatch):
    """Tests ask more often than people; those of the limits set their own."""
    monkeypatch.setattr(configured, "RATE_LIMITS", {})


@pytest.fixture
def redis_server(tmp_path, settings):
    """A Redis of the test's own, which the control plane uses as its shared one; it is empty."""
    server = RedisServer(tmp_path)
    server.start()
    settings.REDIS_URL = server.url
    LINK.ask_again()
    TALLY.flush()  # what other tests counted without a Redis
    LINK.call(lambda client: client.flushall())
    yield server
    server.kill()
    LINK.ask_again()


@pytest.fixture
def world(db, request):
    """A running cluster `main` of tenant `acme` over the fakes; the outbox only collects.

    It is filled before any other fixture sees it when the test asks for one of `FILLINGS`.
    """
    tenant = tenant_make()
    gateway, hosts = FakeGateway(brokers=4), FakeHosts()
    for host in hosts.known:
        host_keys(host.host_id)
    made = World(tenant=tenant, cluster=cluster_make(tenant), gateway=gateway, hosts=hosts)
    hosts.serves = made.cluster.pk, gateway
    use_gateways(lambda _cluster: gateway)
    use_hosts(hosts)
    hosts.followers.append(ObedientBrokers(made.cluster.id, gateway))
    outbox.use_publisher(lambda *message: made.sent.append(message))
    # A thread with a connection of its own would not see the rows of a test's transaction.
    use_keeper(LeaseKeeper(in_background=False))
    wanted = next((name for name in FILLINGS if name in request.fixturenames), None)
    if wanted is not None:
        made.named = filled(made, wanted, FILLINGS[wanted])
    yield made
    use_keeper(None)
    use_gateways(None)
    use_hosts(None)
    outbox.use_publisher(None)

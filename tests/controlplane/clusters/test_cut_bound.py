"""How long a cut between two hosts may hold writes up, by the settings that managed brokers get."""

from controlplane.clusters import specs
from controlplane.clusters.specs import LAG_TIME, broker_config, cut_bound_s
from dataplane.broker.replicas.past_controller import UNANSWERED_S
from dataplane.replication.leader import LOOKS_PER_LAG_TIME
from tests.controlplane.clusters.test_placement_warnings import placed

BOUND_MAX_S = 12.0


def lag_time_s(**chosen):
    config = broker_config(
        placed("a")[0],
        zookeeper="127.0.0.1:2181",
        chroot="/c",
        broker_count=3,
        of_tenant=chosen,
        security_protocol="SASL_PLAINTEXT",
    )
    return int(config[LAG_TIME]) / 1_000


def test_managed_clusters_go_on_after_twelve_seconds():
    assert cut_bound_s({}) <= BOUND_MAX_S
    assert cut_bound_s({}) == 1.25 * lag_time_s() + 1.5


def test_what_a_tenant_chose_is_what_is_said():
    chosen = {LAG_TIME: "30000"}
    assert cut_bound_s(chosen) == 39.0 == 1.25 * lag_time_s(**chosen) + 1.5


def test_it_is_said_as_brokers_go_about_it():
    assert specs.LOOKS_PER_LAG_TIME == LOOKS_PER_LAG_TIME
    assert specs.CONTROLLER_SILENT_S == UNANSWERED_S

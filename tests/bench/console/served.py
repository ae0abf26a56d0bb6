"""The web process over brokers that are a fake in memory, for `read_models`."""

from controlplane.asgi import application
from controlplane.clusters.connections import use_gateways
from controlplane.common.garbage import keep_what_is_loaded
from tests.bench.controlplane.large_cluster import LargeCluster

__all__ = ["application"]

_gateway = LargeCluster()
use_gateways(lambda _cluster: _gateway)
# Half a million objects that stand for brokers: in no web process are there such to look through.
keep_what_is_loaded()

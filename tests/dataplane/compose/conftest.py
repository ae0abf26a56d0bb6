from tests.dataplane.broker.conftest import cluster

__all__ = ["cluster"]

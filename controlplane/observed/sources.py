"""Where truth is read: the clusters that may be asked, the way to each, what each should have.

The app of clusters is above this one and brings its own (`use_source`).
"""

from collections.abc import Collection
from typing import Protocol

from controlplane.gateway.port import ClusterGateway


class Source(Protocol):
    def serving(self) -> Collection[str]:
        """Ids of the clusters that are there to be observed."""
        ...

    def present(self, cluster_ids: Collection[str]) -> Collection[str]:
        """Those of them that are not let go or deleted."""
        ...

    def gateway(self, cluster_id: str) -> ClusterGateway:
        """The way to a cluster that is not deleted.

        Raises:
            NotFound: there is none.
        """
        ...

    def desired_brokers(self, cluster_id: str) -> Collection[int]:
        """The brokers that it should have; none where nobody has said so."""
        ...


_source: Source | None = None


def use_source(source: Source) -> None:
    global _source  # noqa: PLW0603 - one source per process
    _source = source


def source() -> Source:
    if _source is None:
        raise RuntimeError("no source of truth: the app of clusters brings it")
    return _source

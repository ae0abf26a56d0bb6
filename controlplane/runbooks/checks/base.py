"""What a check is, and what it is asked with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.readers import Reader
from controlplane.runbooks.rules import Finding
from controlplane.tenants.models import Tenant

DEADLINE_S = 20.0
"""Longest that a check goes on asking; one question to a broker has its own, shorter bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asks, with what: values by parameter. Everything is read through the scope."""

    tenant: Tenant
    scope: Scope
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> str:
        return str(self.values[name])

    def cluster(self) -> Cluster:
        """Raises NotFound: there is none, or none that is seen."""
        return seen_cluster(self.tenant, self.scope, self["cluster"])

    def reader(self) -> Reader:
        return reader_of(self.cluster(), self.scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A question that only reads.

    `run` raises Problem or GatewayError where nothing can be said; that is `unknown`.
    """

    name: str
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()
    run: Callable[[Asked], Finding]

"""What a page was made of, as far as that is known without reading it.

Whoever knows a page asks again every few seconds. Where all that it is made of has a revision, that
is compared first, and the page is only read when something differs. A page of which a part depends
on the time, or on what brokers say just now, has no sources: it is read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.common.problems import Forbidden
from controlplane.common.times import iso
from controlplane.observed.selectors import sections
from controlplane.tenants.models import Tenant

More = Callable[[Cluster], list[Any] | None]
"""Revisions of what else a page is made of; None: not known."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Of one viewer's page.

    Attributes:
        revisions: JSON; another value as soon as what the page says differs.
        as_of: how old each part is by now, as pages say it.
    """

    revisions: list[Any]
    as_of: Mapping[str, str | None]


class OfSections:
    """The sources of a page that is made of observed sections, by part, and of `more`."""

    def __init__(
        self, *, more: More | None = None, also: tuple[str, ...] = (), **parts: str
    ) -> None:
        self._more, self._also, self._parts = more, also, parts

    def __call__(self, tenant: Tenant, scope: Scope, cluster_id: str, *_: str) -> Sources | None:
        """None: a section was never read, was not read whole, or is not for this viewer.

        Raises:
            NotFound: there is no such cluster for this viewer.
        """
        cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
        try:
            found = sections(reader_of(cluster, scope), {*self._parts.values(), *self._also})
        except Forbidden:
            return None
        if any(at.as_of is None or at.reason or not at.revision for at in found.values()):
            return None
        more = self._more(cluster) if self._more else []
        if more is None:
            return None
        of_sections = sorted([name, at.revision] for name, at in found.items())
        return Sources(
            [cluster.name, cluster.phase, of_sections, more],
            {part: iso(found[name].as_of) for part, name in self._parts.items()},
        )

"""What a page was made of, as far as that is known without reading it.

Whoever knows a page asks again every few seconds. Where all that it is made of has a revision, that
is compared first, and the page is only read when something differs. A page of which a part depends
on the time, or on what brokers say just now, has no sources: it is read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.common.problems import Forbidden
from controlplane.common.times import iso
from controlplane.observed.selectors import sections
from controlplane.tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Beside:
    """What else a page is made of.

    Attributes:
        revisions: JSON; another value as soon as any of it differs.
        moving: moments inside parts that become others while nothing differs, by a letter each.
    """

    revisions: list[Any]
    moving: Mapping[str, str] = field(default_factory=dict)


More = Callable[[Cluster], Beside | None]
"""None: not known."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Of one viewer's page.

    Attributes:
        revisions: JSON; another value as soon as what the page says differs.
        as_of: how old each part is by now, as pages say it.
        moving: as of `Beside`.
    """

    revisions: list[Any]
    as_of: Mapping[str, str | None]
    moving: Mapping[str, str] = field(default_factory=dict)


class OfSections:
    """The sources of a page that is made of observed sections, by part, and of `more`.

    `also` are sections that no part is as of; `now` parts that are as of when they are asked for.
    """

    def __init__(
        self,
        *,
        more: More | None = None,
        also: tuple[str, ...] = (),
        now: tuple[str, ...] = (),
        **parts: str,
    ) -> None:
        self._more, self._also, self._now, self._parts = more, also, now, parts

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
        more = self._more(cluster) if self._more else Beside([])
        if more is None:
            return None
        of_sections = sorted([name, at.revision] for name, at in found.items())
        as_of = {part: iso(found[name].as_of) for part, name in self._parts.items()}
        return Sources(
            [cluster.name, cluster.phase, of_sections, more.revisions],
            as_of | dict.fromkeys(self._now, iso(timezone.now())),
            more.moving,
        )

"""Which ZooKeeper tree is this service's own: kept in its database, compared in every session.

In another tree no host stands: everything would look lost, and what is desired would be written
where no agent reads it.
"""

from controlplane.clusters.models import Ensemble


def refusal(found: str) -> str:
    """Why a tree with this identity ("" for none) is not used; empty: it is, or may be, our own.

    The first one that has any is kept.
    """
    kept = Ensemble.objects.values_list("identity", flat=True).first()
    if kept is None:
        if found:
            Ensemble.objects.get_or_create(pk=1, defaults={"identity": found})
        return ""
    if found == kept:
        return ""
    return (
        f"PENSTOCK_ZOOKEEPER leads to {f'ensemble {found}' if found else 'one without identity'},"
        f" and this service belongs to {kept}: correct it, or `manage.py zookeeper adopt` if that"
        " one is lost for good"
    )


def forget() -> None:
    """The next session's tree is this service's own."""
    Ensemble.objects.all().delete()

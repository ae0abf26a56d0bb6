"""The order of all groups by what no column says, beside a plain reading of the same rule."""

import random

import pytest
from django.utils import timezone

from controlplane.groups.selectors import GROUP_FILTERS, JUDGED, TROUBLE, Judged, groups_listed
from controlplane.observed.listings import Wanted
from controlplane.observed.models import ObservedGroup
from tests.controlplane.support import reader_of_all

NAMES = [f"g{number:02}" for number in range(60)]


@pytest.fixture
def judged(world):
    """Lags and judgements with many that are equal, and some that nobody has."""
    rng = random.Random(3)
    lags = {name: rng.choice([None, 0, 5, 9]) for name in NAMES}
    ObservedGroup.objects.bulk_create(
        ObservedGroup(cluster=world.cluster, key=name, row={"lag": lag}, as_of=timezone.now())
        for name, lag in lags.items()
    )
    found = {
        name: Judged((rng.randrange(2), rng.randrange(2), 0), rng.choice([None, 1.0, 2.0]), bad)
        for name in NAMES
        if (bad := rng.random() < 0.5) or rng.random() < 0.8
    }
    return world, lags, found


def expected(lags, found, wanted):
    def worth(name):
        one = found.get(name)
        if one is None:
            return None
        return one.lag_s if wanted.sort == "seconds" else (*one.harm, lags[name] or 0)

    names = [name for name in NAMES if TROUBLE not in wanted.filters or is_bad(found.get(name))]
    names.sort()
    known = [name for name in names if worth(name) is not None]
    known.sort(key=worth, reverse=wanted.is_descending)
    return [*known, *(name for name in names if worth(name) is None)]


def is_bad(one):
    return one is not None and one.is_trouble


@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("filters", [(), (TROUBLE,)])
@pytest.mark.parametrize("sort", JUDGED)
def test_all_groups_are_in_the_order_of_their_judgements(judged, sort, filters, is_descending):
    world, lags, found = judged
    wanted = Wanted(sort=sort, filters=frozenset(filters), is_descending=is_descending, size=100)
    page = groups_listed(reader_of_all(world), wanted, lambda: found)
    names = expected(lags, found, wanted)
    assert [row.key for row in page.rows] == names
    assert (page.matched, page.total) == (len(names), len(NAMES))
    known = [lags[name] for name in names if lags[name] is not None]
    assert page.figures == {"largest_lag": max(known)}
    assert set(filters) <= set(GROUP_FILTERS)

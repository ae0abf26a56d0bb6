"""What a row holds in a list, asked of the database."""

import pytest

from controlplane.observed.columns import RowFlag, RowHolds, RowNumber
from controlplane.observed.models import ObservedGroup, ObservedTopic
from tests.controlplane.support import cluster_make, tenant_make

pytestmark = pytest.mark.django_db
NAMES = ("orders", "Orders", "it's", 'a"b', "100%", "a_b", "größe", "orders.2")


@pytest.fixture
def cluster():
    made = cluster_make(tenant_make())
    for name in NAMES:
        ObservedGroup.objects.create(
            cluster=made, key=f"of {name}", row={"topics": ["first", name]}, mark=""
        )
    ObservedGroup.objects.create(cluster=made, key="none", row={"topics": []}, mark="")
    return made


@pytest.mark.parametrize("name", NAMES)
def test_only_rows_that_hold_the_very_text_are_found(cluster, name):
    rows = ObservedGroup.objects.filter(RowHolds("topics", name), cluster=cluster)
    assert list(rows.values_list("key", flat=True)) == [f"of {name}"]


@pytest.mark.parametrize("name", ["", "order", "%", "topics", "orders'", "orders' OR 1=1 --"])
def test_a_part_or_a_pattern_of_it_is_not_the_text(cluster, name):
    assert not ObservedGroup.objects.filter(RowHolds("topics", name), cluster=cluster).exists()


@pytest.mark.parametrize(
    ("row", "internal"),
    [
        ({"internal": True}, True),
        ({"internal": False}, False),
        ({"internal": None}, False),
        ({"internal": "true"}, False),
        ({}, False),
    ],
)
def test_a_topic_is_internal_where_its_row_says_true(row, internal):
    cluster = cluster_make(tenant_make())
    ObservedTopic.objects.create(cluster=cluster, key="t", row=row, mark="")
    assert ObservedTopic.objects.get(cluster=cluster).internal is internal


@pytest.mark.parametrize(
    "column",
    [lambda key: RowHolds(key, "orders"), RowFlag, RowNumber],
    ids=["text", "flag", "number"],
)
def test_a_key_that_could_end_the_statement_is_refused(column):
    with pytest.raises(ValueError, match="topics'"):
        column("topics'")

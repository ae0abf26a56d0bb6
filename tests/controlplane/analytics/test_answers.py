"""A REST answer shows every gold column but those that are left out on purpose."""

from __future__ import annotations

import pytest

from controlplane.analytics import answers, selectors
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GoldTopicRetention
from controlplane.analytics.serializers import (
    GroupExpirySerializer,
    LagPointSerializer,
    TopicRetentionSerializer,
)
from spark_analytics.contracts.gold import GROUP_EXPIRY, GROUP_LAG, TOPIC_RETENTION
from tests.controlplane.analytics import rows

LAG = GoldGroupLag(**rows.lag_row("a", rows.T0_MS))
HELD = GoldTopicRetention(**rows.retention_row("a", rows.T0_MS))
EXPIRY = GoldGroupExpiry(**rows.expiry_row("a", rows.T0_MS))


@pytest.mark.parametrize(
    ("table", "shown", "left_out"),
    [
        (GROUP_LAG, answers.LAG_POINT, {"cluster_id", "ts_ms", "sampled_ms"}),
        (TOPIC_RETENTION, answers.RETENTION, {"cluster_id", "ts_ms", "sampled_ms"}),
        (GROUP_EXPIRY, answers.EXPIRY, {"cluster_id", "ts_ms", "topic"}),
    ],
    ids=["lag", "retention", "expiry"],
)
def test_what_is_left_out(table, shown, left_out):
    assert set(table.columns) - set(shown) == {table.column(name) for name in left_out}


@pytest.mark.parametrize(
    ("answer", "serializer"),
    [
        (selectors.lag_dict(LAG), LagPointSerializer),
        (selectors.retention_dict(HELD, []), TopicRetentionSerializer),
        (selectors.expiry_dict(EXPIRY), GroupExpirySerializer),
    ],
    ids=["lag", "retention", "expiry"],
)
def test_an_answer_has_the_fields_of_its_document(answer, serializer):
    assert answer.keys() == serializer().fields.keys()
    assert serializer(answer).data == answer


@pytest.mark.parametrize(
    ("serializer", "columns"),
    [
        (LagPointSerializer, answers.LAG_POINT),
        (TopicRetentionSerializer, answers.RETENTION),
        (GroupExpirySerializer, answers.EXPIRY),
    ],
    ids=["lag", "retention", "expiry"],
)
def test_a_field_may_be_null_and_takes_the_words_that_its_column_takes(serializer, columns):
    fields = serializer().fields
    for column in columns:
        field = fields[column.name]
        assert field.allow_null == column.null, column.name
        word = field.child if column.several else field
        assert tuple(getattr(word, "choices", ())) == column.choices, column.name


def test_a_column_that_the_table_does_not_have_cannot_be_left_out():
    with pytest.raises(KeyError):
        answers.all_but(GROUP_LAG, "no_such_column")

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rest_framework import serializers

from controlplane.common.problems import field_problem
from controlplane.common.serializers import PageSerializer, Shape
from controlplane.messages.bounds import (
    EXPRESSION_MAX,
    FILTER_TEXT_MAX,
    PAGE_DEFAULT,
    PAGE_MAX,
    PARTITIONS_MAX,
)
from controlplane.messages.decoding import Format, Kind
from controlplane.messages.expression import ExpressionError, parse
from controlplane.messages.query import (
    CURSOR_CHARS_MAX,
    OFFSET_MAX,
    From,
    Order,
    Query,
    default_order,
    opened,
)

FORMATS = [each.value for each in Format]
KINDS = [each.value for each in Kind]
ENDINGS = ["limit", "end", "records", "bytes", "seconds"]
PARTITION_MAX = 1_000_000


class MessagePartSerializer(Shape):
    kind = serializers.ChoiceField(KINDS, help_text="As what it is shown; `null`: there is none.")
    text = serializers.CharField(allow_blank=True)
    truncated = serializers.BooleanField(help_text="The text goes on: ask for it with `whole`.")
    size_bytes = serializers.IntegerField(allow_null=True, help_text="Null where a mask hides it.")
    schema = serializers.CharField(allow_blank=True, help_text="`avro 12`: its schema and the id.")
    problem = serializers.CharField(
        allow_blank=True, help_text="Why it is not shown as it was asked for."
    )
    masked = serializers.BooleanField()


class MessageHeaderSerializer(MessagePartSerializer):
    name = serializers.CharField(allow_blank=True)


class MessageSerializer(Shape):
    partition = serializers.IntegerField()
    offset = serializers.IntegerField()
    timestamp_ms = serializers.IntegerField(allow_null=True)
    timestamp = serializers.DateTimeField(
        allow_null=True, help_text="Null where there is none, or none of a calendar."
    )
    timestamp_type = serializers.ChoiceField(
        ["create", "append"], help_text="Of the producer's clock or of the broker's."
    )
    key = MessagePartSerializer()
    value = MessagePartSerializer()
    headers = MessageHeaderSerializer(many=True)
    headers_left_out = serializers.IntegerField()
    masked = serializers.BooleanField(help_text="Something of it is hidden.")


class ReadingProgressSerializer(Shape):
    records = serializers.IntegerField(help_text="Looked at.")
    bytes = serializers.IntegerField(help_text="Of keys, values and headers that were read.")
    matched = serializers.IntegerField()
    filter_errors = serializers.IntegerField(
        help_text="Records that the expression could not judge: they are not shown."
    )
    left_out = serializers.IntegerField(help_text="Of a live tail: matched, and too many to show.")
    elapsed_ms = serializers.IntegerField()


class ReadingDoneSerializer(ReadingProgressSerializer):
    ended_by = serializers.ChoiceField(
        ENDINGS,
        help_text="`limit`: the page is full; `end`: there is no more; else a bound.",
    )
    cursor = serializers.CharField(allow_null=True, help_text="Of the page after.")
    unavailable = serializers.ListField(
        child=serializers.IntegerField(), help_text="Partitions without a leader: not read."
    )
    silent = serializers.ListField(
        child=serializers.IntegerField(), help_text="Partitions that did not answer in time."
    )


class ReadingPhaseSerializer(Shape):
    phase = serializers.ChoiceField(["connecting", "reading"])
    partitions = serializers.ListField(child=serializers.IntegerField())
    unavailable = serializers.ListField(child=serializers.IntegerField())


class MessagePageSerializer(Shape):
    data = MessageSerializer(many=True)  # type: ignore[assignment] # a field here
    page = PageSerializer()
    reading = ReadingDoneSerializer()


class MessageRightsSerializer(Shape):
    """What one may do with the messages of a topic that one sees."""

    browse = serializers.BooleanField()
    produce = serializers.BooleanField()
    masked = serializers.BooleanField(help_text="Masks hide something of them.")


class MessageQuerySerializer(Shape):
    """The query of a page, a live tail or an export."""

    partitions = serializers.RegexField(r"^\d{1,7}(,\d{1,7})*\Z", required=False)
    order = serializers.ChoiceField([each.value for each in Order], required=False)
    offset = serializers.IntegerField(min_value=0, max_value=OFFSET_MAX, required=False)
    time = serializers.DateTimeField(required=False)
    limit = serializers.IntegerField(min_value=1, max_value=PAGE_MAX, default=PAGE_DEFAULT)
    key = serializers.CharField(
        max_length=FILTER_TEXT_MAX, required=False, allow_blank=True, trim_whitespace=False
    )
    value = serializers.CharField(
        max_length=FILTER_TEXT_MAX, required=False, allow_blank=True, trim_whitespace=False
    )
    header = serializers.CharField(
        max_length=FILTER_TEXT_MAX, required=False, allow_blank=True, trim_whitespace=False
    )
    filter = serializers.CharField(max_length=EXPRESSION_MAX, required=False, allow_blank=True)
    key_format = serializers.ChoiceField(FORMATS, default=Format.AUTO.value)
    value_format = serializers.ChoiceField(FORMATS, default=Format.AUTO.value)
    cursor = serializers.CharField(max_length=CURSOR_CHARS_MAX, required=False)
    whole = serializers.BooleanField(default=False)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        fields["from"] = serializers.ChoiceField([each.value for each in From], required=False)
        return fields


def query_of(params: Mapping[str, str], *, is_tail: bool = False) -> Query:
    """The query of these parameters.

    Raises:
        ValidationError, Invalid: each names its field.
    """
    given = MessageQuerySerializer(data=dict(params.items()))
    given.is_valid(raise_exception=True)
    values = given.validated_data
    start = From(values.get("from") or _start(values, is_tail=is_tail))
    order = Order(values.get("order") or default_order(start))
    for field, wanted in (("offset", From.OFFSET), ("time", From.TIME)):
        if start is wanted and field not in values and "cursor" not in values:
            raise field_problem(f"/{field}", f"from={wanted.value} needs {field}.", "required")
        if start is not wanted and field in values:
            raise field_problem(f"/{field}", f"{field} goes with from={wanted.value}.")
    if order is Order.NEWEST and start is From.BEGINNING:
        raise field_problem("/order", "Before the beginning there is nothing: read oldest first.")
    if values["whole"] and values["limit"] > 1:
        raise field_problem("/whole", "One message is shown whole: limit=1.")
    spans: dict[int, Any] = {}
    if "cursor" in values:
        try:
            order, spans = opened(values["cursor"])
        except ValueError as error:
            raise field_problem("/cursor", "This is no cursor of a page before.") from error
    return Query(
        partitions=_partitions(values.get("partitions", "")),
        start=start,
        order=order,
        offset=values.get("offset", 0),
        time_ms=_ms(values.get("time")),
        limit=values["limit"],
        key=values.get("key", ""),
        value=values.get("value", ""),
        header=values.get("header", ""),
        expression=_expression(values.get("filter", "")),
        key_format=Format(values["key_format"]),
        value_format=Format(values["value_format"]),
        spans=spans,
        is_whole=values["whole"],
    )


def _start(values: Mapping[str, Any], *, is_tail: bool) -> str:
    if is_tail:
        return From.END.value
    given = "offset" in values, "time" in values
    return {(True, False): From.OFFSET.value, (False, True): From.TIME.value}.get(
        given, From.END.value
    )


def _expression(text: str) -> Any:
    if not text.strip():
        return None
    try:
        return parse(text)
    except ExpressionError as error:
        detail = f"In filter, at character {error.position + 1}: {error}"
        raise field_problem("/filter", detail, "expression") from error


def _partitions(text: str) -> frozenset[int]:
    numbers = frozenset(int(part) for part in text.split(",") if part)
    if len(numbers) > PARTITIONS_MAX:
        raise field_problem("/partitions", f"At most {PARTITIONS_MAX} partitions at once.")
    return numbers


def _ms(at: datetime | None) -> int:
    return 0 if at is None else int(at.timestamp() * 1000)

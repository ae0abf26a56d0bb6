import urllib.parse
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rest_framework import serializers

from controlplane.common.grants import (
    MESSAGE_READER,
    NAME_MAX,
    OPERATOR,
    OWNER,
    Match,
    Pattern,
)
from controlplane.common.problems import field_problem
from controlplane.common.serializers import PageSerializer, Shape, etag_field, page_serializer
from controlplane.gateway.record_port import Isolation, NewRecord
from controlplane.messages.bounds import (
    EXPORT_RECORDS_DEFAULT,
    EXPORT_RECORDS_MAX,
    EXPRESSION_MAX,
    FILTER_TEXT_MAX,
    PAGE_DEFAULT,
    PAGE_MAX,
    PARTITIONS_MAX,
    PRODUCE_HEADERS_MAX,
    PRODUCE_KEY_MAX_BYTES,
    PRODUCE_VALUE_MAX_BYTES,
)
from controlplane.messages.decoding import Format, Kind, Undecodable, json_of
from controlplane.messages.expression import ExpressionError, parse
from controlplane.messages.masking import PATH_MAX, Act, Part, path_of
from controlplane.messages.query import (
    CURSOR_CHARS_MAX,
    OFFSET_MAX,
    From,
    Order,
    Query,
    default_order,
    opened,
)

NDJSON, CSV = "ndjson", "csv"
FORMATS = [each.value for each in Format]
KINDS = [each.value for each in Kind]
ISOLATIONS = [each.value for each in Isolation]
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
    headers_left_out = serializers.IntegerField(
        help_text="Headers that it has besides: of one message 100 are read, of a page 2000 shown."
    )
    masked = serializers.BooleanField(help_text="Something of it is hidden.")


class ReadingProgressSerializer(Shape):
    records = serializers.IntegerField(help_text="Looked at.")
    bytes = serializers.IntegerField(
        allow_null=True,
        help_text="Of keys, values and headers that were read; null where masks hide any.",
    )
    matched = serializers.IntegerField()
    filter_errors = serializers.IntegerField(
        help_text="Records that the filters could not judge, and that are not shown: an expression"
        " compares what has no order in them, or a header may be among those behind the first 100,"
        " which are not read."
    )
    left_out = serializers.IntegerField(help_text="Of a live tail: matched, and too many to show.")
    elapsed_ms = serializers.IntegerField()
    waits_for = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Partitions that ought to bring records, and have brought none for a second.",
    )


class HeldBackSerializer(Shape):
    """Of `read_committed`: what an open transaction keeps from consumers."""

    partition = serializers.IntegerField()
    last_stable_offset = serializers.IntegerField(help_text="The first that is not read.")
    end_offset = serializers.IntegerField(help_text="Of the partition; exclusive.")


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
    held_back = HeldBackSerializer(many=True)


class ReadingPhaseSerializer(Shape):
    phase = serializers.ChoiceField(["connecting", "reading"])
    partitions = serializers.ListField(child=serializers.IntegerField())
    unavailable = serializers.ListField(child=serializers.IntegerField())
    masked = serializers.BooleanField(
        allow_null=True,
        help_text="Masks hide something of what comes; null: not known yet. Said again when that"
        " changes.",
    )
    held_back = HeldBackSerializer(many=True)


class MessagePageSerializer(Shape):
    data = MessageSerializer(many=True)  # type: ignore[assignment] # a field here
    page = PageSerializer()
    reading = ReadingDoneSerializer()


class SampleQuerySerializer(Shape):
    partition = serializers.IntegerField(min_value=0, max_value=PARTITION_MAX, default=0)
    offset = serializers.IntegerField(min_value=0, max_value=OFFSET_MAX, default=0)


class OffsetSampleSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    offset = serializers.IntegerField(help_text="As asked for; the record may lie behind it.")
    record = MessageSerializer(
        allow_null=True, help_text="Null: nothing is there yet, the log ends here."
    )


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
    isolation = serializers.ChoiceField(ISOLATIONS, default=Isolation.READ_UNCOMMITTED.value)
    cursor = serializers.CharField(max_length=CURSOR_CHARS_MAX, required=False)
    whole = serializers.BooleanField(default=False)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        fields["from"] = serializers.ChoiceField([each.value for each in From], required=False)
        return fields


class MessageExportQuerySerializer(MessageQuerySerializer):
    limit = None  # type: ignore[assignment] # Django REST framework's way to leave a field out
    records = serializers.IntegerField(
        min_value=1, max_value=EXPORT_RECORDS_MAX, default=EXPORT_RECORDS_DEFAULT
    )
    format = serializers.ChoiceField([NDJSON, CSV], default=NDJSON)


def query_of(
    params: Mapping[str, str],
    *,
    is_tail: bool = False,
    shape: type[MessageQuerySerializer] = MessageQuerySerializer,
) -> Query:
    """The query of these parameters.

    Raises:
        ValidationError, Invalid: each names its field.
    """
    given = shape(data=dict(params.items()))
    given.is_valid(raise_exception=True)
    values = given.validated_data
    start = From(values.get("from") or _start(values, is_tail=is_tail))
    # A tail that begins at the end begins there: newest first it would be all before it.
    order = Order(values.get("order") or (Order.OLDEST if is_tail else default_order(start)))
    if is_tail and order is Order.NEWEST:
        raise field_problem("/order", "A live tail goes on with what comes: read oldest first.")
    for field, wanted in (("offset", From.OFFSET), ("time", From.TIME)):
        if start is wanted and field not in values and "cursor" not in values:
            raise field_problem(f"/{field}", f"from={wanted.value} needs {field}.", "required")
        if start is not wanted and field in values:
            raise field_problem(f"/{field}", f"{field} goes with from={wanted.value}.")
    if order is Order.NEWEST and start is From.BEGINNING:
        raise field_problem("/order", "Before the beginning there is nothing: read oldest first.")
    limit = values["limit"] if "limit" in values else values["records"]
    if values["whole"] and limit > 1:
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
        limit=limit,
        key=values.get("key", ""),
        value=values.get("value", ""),
        header=values.get("header", ""),
        expression=_expression(values.get("filter", "")),
        key_format=Format(values["key_format"]),
        value_format=Format(values["value_format"]),
        spans=spans,
        is_whole=values["whole"],
        isolation=Isolation(values["isolation"]),
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


# -- writing ------------------------------------------------------------------------------------
WRITTEN_FORMATS = ["string", "json", "hex"]
WRITTEN_TEXT_MAX = 2 * PRODUCE_VALUE_MAX_BYTES
"""Characters of a part: the largest value, as hexadecimal digits. Its bytes are counted, too."""


class NewPartSerializer(Shape):
    """A key, value or header to be written."""

    format = serializers.ChoiceField(WRITTEN_FORMATS, default="string")
    text = serializers.CharField(
        allow_blank=True, trim_whitespace=False, max_length=WRITTEN_TEXT_MAX
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """With its bytes: JSON is written as it is given, and has to be some."""
        try:
            raw = attrs["text"].encode()
            if attrs["format"] == "json":
                json_of(raw)
            elif attrs["format"] == "hex":
                raw = bytes.fromhex(attrs["text"])
        except Undecodable as error:
            raise serializers.ValidationError({"text": str(error)}) from error
        except UnicodeEncodeError as error:
            raise serializers.ValidationError({"text": "It holds half a character."}) from error
        except ValueError as error:
            raise serializers.ValidationError({"text": "No hexadecimal digits."}) from error
        return {**attrs, "raw": raw}


class NewHeaderSerializer(Shape):
    name = serializers.CharField(max_length=NAME_MAX, trim_whitespace=False)
    value = NewPartSerializer()


class NewMessageSerializer(Shape):
    partition = serializers.IntegerField(
        min_value=0,
        max_value=PARTITION_MAX,
        allow_null=True,
        default=None,
        help_text="Null: the key decides, or chance.",
    )
    key = NewPartSerializer(allow_null=True, default=None)
    value = NewPartSerializer(allow_null=True, help_text="Null: a tombstone.")
    headers = serializers.ListField(
        child=NewHeaderSerializer(), default=list, max_length=PRODUCE_HEADERS_MAX
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name, most in (("key", PRODUCE_KEY_MAX_BYTES), ("value", PRODUCE_VALUE_MAX_BYTES)):
            if len(_raw(attrs[name]) or b"") > most:
                raise serializers.ValidationError({name: f"At most {most} bytes."})
        if attrs["key"] is None and attrs["value"] is None:
            raise serializers.ValidationError({"value": "Without a key a message has a value."})
        sizes = [len(_raw(row["value"]) or b"") for row in attrs["headers"]]
        if sum(sizes) > PRODUCE_KEY_MAX_BYTES:
            raise serializers.ValidationError(
                {"headers": f"At most {PRODUCE_KEY_MAX_BYTES} bytes in all."}
            )
        return attrs


def new_record(values: Mapping[str, Any]) -> NewRecord:
    return NewRecord(
        partition=values["partition"],
        key=_raw(values["key"]),
        value=_raw(values["value"]),
        headers=tuple((row["name"], _raw(row["value"])) for row in values["headers"]),
    )


def _raw(part: Mapping[str, Any] | None) -> bytes | None:
    return None if part is None else part["raw"]


class WrittenMessageSerializer(Shape):
    partition = serializers.IntegerField()
    offset = serializers.IntegerField()
    timestamp_ms = serializers.IntegerField(allow_null=True)


# -- masks --------------------------------------------------------------------------------------
SEE_THROUGH = [OWNER, OPERATOR, MESSAGE_READER]
TOPIC_MATCHES = [each.value for each in Match]
PARTS = [each.value for each in Part]
ACTS = [each.value for each in Act]


class TopicPatternSerializer(Shape):
    match = serializers.ChoiceField(TOPIC_MATCHES)
    name = serializers.CharField(
        max_length=NAME_MAX,
        allow_blank=True,
        trim_whitespace=False,
        help_text="Compared letter by letter; a prefix ends with a separator (. - _ / :).",
    )


class MaskInputSerializer(Shape):
    topics = TopicPatternSerializer()
    part = serializers.ChoiceField(PARTS)
    path = serializers.CharField(
        max_length=PATH_MAX,
        allow_blank=True,
        default="",
        trim_whitespace=False,
        help_text="Fields as `customer.email` (`*`: each), or a header's name; empty: all of it.",
    )
    act = serializers.ChoiceField(
        ACTS, help_text="`hash`: equal values of the tenant stay equal, and are not shown."
    )
    see_through = serializers.ListField(
        child=serializers.ChoiceField(SEE_THROUGH),
        default=list,
        max_length=len(SEE_THROUGH),
        help_text="Roles whose holders see what it hides.",
    )
    note = serializers.CharField(max_length=200, allow_blank=True, default="")

    def validate_topics(self, value: dict[str, str]) -> Pattern:
        pattern = Pattern(Match(value["match"]), value["name"])
        if why := pattern.fault():
            raise serializers.ValidationError(why)
        return pattern

    def validate_see_through(self, value: list[str]) -> list[str]:
        return sorted(set(value))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["part"] != Part.HEADER.value:
            try:
                path_of(attrs["path"])
            except ValueError as error:
                raise serializers.ValidationError({"path": str(error)}) from error
        return attrs


class MaskSerializer(Shape):
    id = serializers.CharField()
    topics = TopicPatternSerializer()
    part = serializers.ChoiceField(PARTS)
    path = serializers.CharField(allow_blank=True)
    act = serializers.ChoiceField(ACTS)
    see_through = serializers.ListField(child=serializers.ChoiceField(SEE_THROUGH))
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    etag = etag_field()


MaskPageSerializer = page_serializer(MaskSerializer)


# -- schema registries --------------------------------------------------------------------------
class SchemaRegistryInputSerializer(Shape):
    url = serializers.CharField(max_length=500, help_text="http or https; a path is kept.")
    username = serializers.CharField(max_length=200, allow_blank=True, default="")
    password = serializers.CharField(
        max_length=500,
        allow_blank=True,
        required=False,
        write_only=True,
        trim_whitespace=False,
        help_text="Shown nowhere. Left out, the one of before stays, at the same URL.",
    )
    ca_pem = serializers.CharField(
        max_length=20_000, allow_blank=True, default="", help_text="Authorities trusted besides."
    )

    def validate_url(self, value: str) -> str:
        try:
            url = urllib.parse.urlsplit(value)
            port = url.port
        except ValueError as error:
            raise serializers.ValidationError("This is no URL.") from error
        plain = value.isascii() and value.isprintable() and " " not in value
        if url.scheme not in {"http", "https"} or not url.hostname or port == 0 or not plain:
            raise serializers.ValidationError("An http or https URL with a host.")
        if url.username is not None or url.query or url.fragment:
            raise serializers.ValidationError("A URL without user, query and fragment.")
        return value.rstrip("/")


class SchemaRegistryCheckSerializer(Shape):
    answers = serializers.BooleanField(help_text="It is a registry, and lets this user in.")
    detail = serializers.CharField(allow_blank=True, help_text="Why not, in a sentence.")


class SchemaRegistrySerializer(Shape):
    url = serializers.CharField(allow_blank=True, help_text="Empty: the cluster has no registry.")
    username = serializers.CharField(allow_blank=True)
    ca_pem = serializers.CharField(allow_blank=True)
    has_password = serializers.BooleanField()
    changed_at = serializers.DateTimeField(allow_null=True)
    etag = etag_field()

"""The live streams' events in the OpenAPI document, from which the browser's types are generated.

A stream is a text/event-stream: OpenAPI describes bodies, so each stream is one component whose
properties are its events by name. Nothing but the document uses these shapes.
"""

from typing import Any

from drf_spectacular.plumbing import build_mocked_view
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from console.events import TOPICS
from controlplane.common.serializers import Shape
from controlplane.messages.serializers import (
    MessageSerializer,
    ReadingDoneSerializer,
    ReadingPhaseSerializer,
    ReadingProgressSerializer,
)
from controlplane.operations.serializers import OperationSerializer

TOPIC_CHOICES = list(TOPICS)
EVENTS_PATH = "/console/events"


class ChangeEventSerializer(Shape):
    topic = serializers.ChoiceField(TOPIC_CHOICES, help_text="What to ask for again.")


ChangeEventsSerializer: type[Shape] = type(
    "ChangeEventsSerializer", (Shape,), {name: ChangeEventSerializer() for name in TOPICS}
)


class OperationEventsSerializer(Shape):
    operation = OperationSerializer()


class ReadingFailedSerializer(Shape):
    """What an answer with a problem would say, where the stream has begun."""

    status = serializers.IntegerField()
    code = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField()


class MessageEventsSerializer(Shape):
    phase = ReadingPhaseSerializer()
    message = MessageSerializer()
    progress = ReadingProgressSerializer()
    done = ReadingDoneSerializer()
    failed = ReadingFailedSerializer()


STREAMS: dict[str, type[Shape]] = {
    f"GET {EVENTS_PATH}?topics={','.join(TOPICS)}": ChangeEventsSerializer,
    f"GET {EVENTS_PATH}/operations/{{operation_id}}": OperationEventsSerializer,
    f"GET {EVENTS_PATH}/messages/{{cluster_id}}/{{topic}}": MessageEventsSerializer,
}


def describe_streams(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """drf-spectacular's hook: the first one, so that those behind it see these components too."""
    view = build_mocked_view(
        method="GET",
        path=EVENTS_PATH,
        extend_schema_decorator=extend_schema(request=None, responses=None),
        registry=generator.registry,
    )
    for address, shape in STREAMS.items():
        found = view.schema.resolve_serializer(shape, "response")
        found.schema["description"] = f"The data of the events of `{address}`, by their names."
    result["components"] = generator.registry.build(spectacular_settings.APPEND_COMPONENTS)
    return result

"""DeleteTopics (key 20), versions 0-6, flexible from 4.

Delete topics by name or id.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, UUID, Message, array, field, struct


@struct
class DeleteTopicState:
    name: str | None = field(STRING, "6+", nullable="6+", default=None)
    topic_id: uuid.UUID = field(UUID, "6+")


@struct
class DeleteTopicsRequest(Message):
    API_KEY: ClassVar[int] = 20
    VERSIONS: ClassVar[tuple[int, int]] = (0, 6)
    FLEXIBLE: ClassVar[int] = 4

    topics: list[DeleteTopicState] = field(array(DeleteTopicState), "6+")
    topic_names: list[str] = field(array(STRING), "0-5")
    timeout_ms: int = field(INT32, "0+")


@struct
class DeletableTopicResult:
    name: str | None = field(STRING, "0+", nullable="6+")
    topic_id: uuid.UUID = field(UUID, "6+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "5+", nullable="5+", default=None)


@struct
class DeleteTopicsResponse(Message):
    API_KEY: ClassVar[int] = 20
    VERSIONS: ClassVar[tuple[int, int]] = (0, 6)
    FLEXIBLE: ClassVar[int] = 4

    throttle_time_ms: int = field(INT32, "1+")
    responses: list[DeletableTopicResult] = field(array(DeletableTopicResult), "0+")

"""CreateDelegationToken (key 38), versions 0-3, flexible from 2.

Make a token, for oneself or for another principal.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class CreatableRenewers:
    principal_type: str = field(STRING, "0+")
    principal_name: str = field(STRING, "0+")


@struct
class CreateDelegationTokenRequest(Message):
    API_KEY: ClassVar[int] = 38
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    owner_principal_type: str | None = field(STRING, "3+", nullable="3+")
    owner_principal_name: str | None = field(STRING, "3+", nullable="3+")
    renewers: list[CreatableRenewers] = field(array(CreatableRenewers), "0+")
    max_lifetime_ms: int = field(INT64, "0+")


@struct
class CreateDelegationTokenResponse(Message):
    API_KEY: ClassVar[int] = 38
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    principal_type: str = field(STRING, "0+")
    principal_name: str = field(STRING, "0+")
    token_requester_principal_type: str = field(STRING, "3+")
    token_requester_principal_name: str = field(STRING, "3+")
    issue_timestamp_ms: int = field(INT64, "0+")
    expiry_timestamp_ms: int = field(INT64, "0+")
    max_timestamp_ms: int = field(INT64, "0+")
    token_id: str = field(STRING, "0+")
    hmac: bytes = field(BYTES, "0+")
    throttle_time_ms: int = field(INT32, "0+")

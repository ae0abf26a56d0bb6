"""DescribeDelegationToken (key 41), versions 0-3, flexible from 2.

The tokens of owners, or all that one may see.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class DescribeDelegationTokenOwner:
    principal_type: str = field(STRING, "0+")
    principal_name: str = field(STRING, "0+")


@struct
class DescribeDelegationTokenRequest(Message):
    API_KEY: ClassVar[int] = 41
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    owners: list[DescribeDelegationTokenOwner] | None = field(
        array(DescribeDelegationTokenOwner), "0+", nullable="0+"
    )


@struct
class DescribedDelegationTokenRenewer:
    principal_type: str = field(STRING, "0+")
    principal_name: str = field(STRING, "0+")


@struct
class DescribedDelegationToken:
    principal_type: str = field(STRING, "0+")
    principal_name: str = field(STRING, "0+")
    token_requester_principal_type: str = field(STRING, "3+")
    token_requester_principal_name: str = field(STRING, "3+")
    issue_timestamp: int = field(INT64, "0+")
    expiry_timestamp: int = field(INT64, "0+")
    max_timestamp: int = field(INT64, "0+")
    token_id: str = field(STRING, "0+")
    hmac: bytes = field(BYTES, "0+")
    renewers: list[DescribedDelegationTokenRenewer] = field(
        array(DescribedDelegationTokenRenewer), "0+"
    )


@struct
class DescribeDelegationTokenResponse(Message):
    API_KEY: ClassVar[int] = 41
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    tokens: list[DescribedDelegationToken] = field(array(DescribedDelegationToken), "0+")
    throttle_time_ms: int = field(INT32, "0+")

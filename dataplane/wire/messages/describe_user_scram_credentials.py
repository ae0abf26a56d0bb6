"""DescribeUserScramCredentials (key 50), version 0, flexible from 0.

Which SCRAM mechanisms users have.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class UserName:
    name: str = field(STRING, "0+")


@struct
class DescribeUserScramCredentialsRequest(Message):
    API_KEY: ClassVar[int] = 50
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    users: list[UserName] | None = field(array(UserName), "0+", nullable="0+")


@struct
class CredentialInfo:
    mechanism: int = field(INT8, "0+")
    iterations: int = field(INT32, "0+")


@struct
class DescribeUserScramCredentialsResult:
    user: str = field(STRING, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")
    credential_infos: list[CredentialInfo] = field(array(CredentialInfo), "0+")


@struct
class DescribeUserScramCredentialsResponse(Message):
    API_KEY: ClassVar[int] = 50
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")
    results: list[DescribeUserScramCredentialsResult] = field(
        array(DescribeUserScramCredentialsResult), "0+"
    )

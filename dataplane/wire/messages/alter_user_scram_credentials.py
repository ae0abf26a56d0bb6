"""AlterUserScramCredentials (key 51), version 0, flexible from 0.

Create, change and delete SCRAM credentials.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BYTES, INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class ScramCredentialDeletion:
    name: str = field(STRING, "0+")
    mechanism: int = field(INT8, "0+")


@struct
class ScramCredentialUpsertion:
    name: str = field(STRING, "0+")
    mechanism: int = field(INT8, "0+")
    iterations: int = field(INT32, "0+")
    salt: bytes = field(BYTES, "0+")
    salted_password: bytes = field(BYTES, "0+")


@struct
class AlterUserScramCredentialsRequest(Message):
    API_KEY: ClassVar[int] = 51
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    deletions: list[ScramCredentialDeletion] = field(array(ScramCredentialDeletion), "0+")
    upsertions: list[ScramCredentialUpsertion] = field(array(ScramCredentialUpsertion), "0+")


@struct
class AlterUserScramCredentialsResult:
    user: str = field(STRING, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+")


@struct
class AlterUserScramCredentialsResponse(Message):
    API_KEY: ClassVar[int] = 51
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    results: list[AlterUserScramCredentialsResult] = field(
        array(AlterUserScramCredentialsResult), "0+"
    )

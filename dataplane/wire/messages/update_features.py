"""UpdateFeatures (key 57), versions 0-1, flexible from 0.

Change the finalized versions of features (KIP-584).
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class FeatureUpdate:
    feature: str = field(STRING, "0+")
    max_version_level: int = field(INT16, "0+")
    allow_downgrade: bool = field(BOOL, "0")
    upgrade_type: int = field(INT8, "1+", default=1)


@struct
class UpdateFeaturesRequest(Message):
    API_KEY: ClassVar[int] = 57
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    timeout_ms: int = field(INT32, "0+", default=60000)
    feature_updates: list[FeatureUpdate] = field(array(FeatureUpdate), "0+")
    validate_only: bool = field(BOOL, "1+", default=False)


@struct
class UpdatableFeatureResult:
    feature: str = field(STRING, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)


@struct
class UpdateFeaturesResponse(Message):
    API_KEY: ClassVar[int] = 57
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    results: list[UpdatableFeatureResult] = field(array(UpdatableFeatureResult), "0+")

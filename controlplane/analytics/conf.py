"""This app's settings, from the environment; the shared ones are in `controlplane.settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from spark_analytics.contracts.runs import CatalogInput

SILVER_KEEP_S_MIN = 3 * 24 * 3600
"""A daily run computes two days, and looks a day further back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsConf:
    """`spark_conf` is PENSTOCK_SPARK_CONF: `key=value` pairs separated by `;`.

    `catalog` is the database that knows the lake's tables; without one their folders do.
    """

    interval_s: float
    first_after_s: float
    deadline_s: float
    range_max_s: int
    gold_keep_s: int
    silver_keep_s: int
    spark_master: str
    spark_conf: dict[str, str]
    jars_dir: Path
    data_uri: str
    runs_dir: Path
    catalog: CatalogInput | None = None
    catalog_login: Mapping[str, str] = field(default_factory=dict, repr=False)


def conf() -> AnalyticsConf:
    """Read at each call: cheap, and tests may change it."""
    return AnalyticsConf(
        interval_s=_number("PENSTOCK_ANALYTICS_INTERVAL_S", 300),
        first_after_s=_number("PENSTOCK_ANALYTICS_FIRST_AFTER_S", 45),
        deadline_s=_number("PENSTOCK_ANALYTICS_DEADLINE_S", 600),
        range_max_s=int(_number("PENSTOCK_ANALYTICS_RANGE_MAX_S", 6 * 3600)),
        gold_keep_s=int(_number("PENSTOCK_ANALYTICS_GOLD_KEEP_S", 14 * 24 * 3600)),
        silver_keep_s=int(
            _number("PENSTOCK_ANALYTICS_SILVER_KEEP_S", 15 * 24 * 3600, least=SILVER_KEEP_S_MIN)
        ),
        spark_master=settings.SPARK_MASTER,
        spark_conf=_pairs(os.environ.get("PENSTOCK_SPARK_CONF", "")),
        jars_dir=Path(settings.SPARK_JARS_DIR),
        data_uri=str(settings.ANALYTICS_URI).rstrip("/"),
        runs_dir=Path(settings.DATA_DIR) / "analytics-runs",
        catalog=_catalog(),
        catalog_login=_catalog_login(),
    )


def _catalog() -> CatalogInput | None:
    uri = os.environ.get("PENSTOCK_LAKE_CATALOG_URI", "")
    jars = os.environ.get("PENSTOCK_LAKE_CATALOG_JARS", "")
    if not uri:
        return None
    return CatalogInput(uri=uri, jars=tuple(filter(None, jars.split(os.pathsep))))


def _catalog_login() -> dict[str, str]:
    names = {"user": "PENSTOCK_LAKE_CATALOG_USER", "password": "PENSTOCK_LAKE_CATALOG_PASSWORD"}
    return {key: os.environ[name] for key, name in names.items() if os.environ.get(name)}


def _number(name: str, default: float, *, least: float = 0) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a number") from None
    if value <= 0:
        raise ValueError(f"{name}={text!r} must be above 0")
    if value < least:
        raise ValueError(f"{name}={text!r} must be at least {least:.0f}")
    return value


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = pair.partition("=")
        if not equals or not key.startswith("spark."):
            raise ValueError(f"PENSTOCK_SPARK_CONF: {pair!r} is not spark.key=value")
        found[key.strip()] = value.strip()
    return found

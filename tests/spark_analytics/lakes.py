"""Lakes of tests: each in a session of its own, for a session has one catalog of that name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from spark_analytics import session
from spark_analytics.io import jars
from spark_analytics.io.lake import Lake
from tests.local_cluster import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_analytics.contracts.runs import CatalogInput


def jars_dir() -> Path:
    """Where the jars of a run are; brought when they are not."""
    target = Path(os.environ.get("PENSTOCK_SPARK_JARS_DIR") or ROOT / "build/jars")
    jars.fetch(target)
    return target


def drivers() -> list[str]:
    """The jars of the databases that may be a catalog."""
    target = ROOT / "build" / "jdbc"
    hashes = Path(__file__).with_name("jdbc.sha256")
    packages = ["org.xerial:sqlite-jdbc:3.50.3.0", "org.postgresql:postgresql:42.7.7"]
    excludes = [*jars.BUNDLED_WITH_PYSPARK, "org.checkerframework:checker-qual"]
    jars.bring(packages, target, hashes, excludes=excludes)
    return [str(target / name) for name in sorted(jars.expected_hashes(hashes))]


def session_of(
    spark: SparkSession, path: Path, catalog: CatalogInput | None = None
) -> SparkSession:
    """Another session on the same Spark, whose lake lies in `path`."""
    own = spark.newSession()
    for key, value in session.lake_settings(path.as_uri(), catalog).items():
        own.conf.set(key, value)
    return own


def lake_in(spark: SparkSession, path: Path, catalog: CatalogInput | None = None) -> Lake:
    return Lake.opened(session_of(spark, path, catalog), path.as_uri())

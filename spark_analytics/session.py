"""One modest Spark session per run: what it is comes from the run's configuration only."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spark_analytics.contracts.runs import RunConfig

# Defaults that `RunConfig.spark_conf` overrides.
DEFAULTS: Mapping[str, str] = {
    "spark.driver.memory": "768m",
    # A run lives for seconds: the quick compiler alone starts faster and keeps the process small.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss2m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "true",
    # A run reads minutes of samples: generating and compiling Java for each query costs more than
    # it saves. A site with very many partitions turns it on again by PENSTOCK_SPARK_CONF.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    # `batch=0012` and `cluster=42` are names, not numbers.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # Nobody watches the metrics of a query that lives for seconds.
    "spark.sql.streaming.numRecentProgressUpdates": "1",
    # Bronze has a folder a batch: listing a few hundred here is cheaper than a job that does it.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "2000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
}


def start(config: RunConfig, jars: Sequence[Path]) -> SparkSession:
    """A session for this run, with these jars on its class path."""
    work = Path(config.work_dir)
    # Workers, if a job ever needs one, run this interpreter with its packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        **DEFAULTS,
        "spark.local.dir": str(work / "scratch"),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        **config.spark_conf,
    }
    if jars:
        settings["spark.jars"] = ",".join(path.resolve().as_uri() for path in jars)
    if (hosts := _hosts_file(config)) is not None:
        own = settings["spark.driver.extraJavaOptions"]
        settings["spark.driver.extraJavaOptions"] = f'{own} "-Djdk.net.hosts.file={hosts}"'
    if config.master.startswith("local"):
        settings.setdefault("spark.driver.host", "127.0.0.1")
        settings.setdefault("spark.driver.bindAddress", "127.0.0.1")
    builder = SparkSession.builder.master(config.master).appName(f"penstock-{config.run_id}")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _hosts_file(config: RunConfig) -> Path | None:
    """By which the JVM resolves every name, and no other way: a name that was looked at before the
    run leads where it led then.

    None where nobody looked, or where the JVM needs names besides: those of Spark's own cluster or
    of an object store.
    """
    given = [cluster.hosts for cluster in config.clusters if cluster.hosts is not None]
    alone = config.master.startswith("local") and config.data_uri.startswith("file:")
    if not given or not alone:
        return None
    lines = [f"127.0.0.1 localhost {socket.gethostname()}"]
    for hosts in given:
        lines += [f"{address} {name}" for name, found in hosts.items() for address in found]
    path = Path(config.work_dir).resolve() / "hosts"
    path.write_text("\n".join(lines) + "\n")
    return path

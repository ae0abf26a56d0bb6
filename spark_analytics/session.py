"""One modest Spark session per run: what it is comes from the run's configuration only."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from spark_analytics.schemas import CATALOG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spark_analytics.contracts.runs import CatalogInput, RunConfig

_HOSTS_OF_JDBC = re.compile(r"(?://|,)([A-Za-z0-9.-]+)(?=[:/,?]|$)")
TASKS_IMPORT = ("contracts/*.py", "formulas/*.py")
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
    # A row is a slice, with up to some ten thousand partitions in its arrays: 30 MB a batch then.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.streaming.minBatchesToRetain": "10",
    # Nobody watches the metrics of a query that lives for seconds.
    "spark.sql.streaming.numRecentProgressUpdates": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
}


def start(config: RunConfig, jars: Sequence[Path]) -> SparkSession:
    """A session for this run, with these jars on its class path."""
    work = Path(config.work_dir)
    # Workers run this interpreter with its packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        **DEFAULTS,
        "spark.local.dir": str(work / "scratch"),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        **lake_settings(config.data_uri, config.catalog),
        **config.spark_conf,
    }
    if jars:
        settings["spark.jars"] = ",".join(path.resolve().as_uri() for path in jars)
    if config.catalog is not None and config.catalog.jars:
        # Java finds a driver of a database by its own class path alone.
        given = [settings.get("spark.driver.extraClassPath", ""), *config.catalog.jars]
        settings["spark.driver.extraClassPath"] = os.pathsep.join(filter(None, given))
    if (hosts := _hosts_file(config)) is not None:
        own = settings["spark.driver.extraJavaOptions"]
        settings["spark.driver.extraJavaOptions"] = f'{own} "-Djdk.net.hosts.file={hosts}"'
    if config.master.startswith("local"):
        settings.setdefault("spark.driver.host", "127.0.0.1")
        settings.setdefault("spark.driver.bindAddress", "127.0.0.1")
    builder = SparkSession.builder.master(config.master).appName(f"penstock-{config.run_id}")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    _keep_local_files_where_they_are(spark)
    spark.sparkContext.addPyFile(str(_packed(work)))
    return spark


def _packed(work: Path) -> Path:
    """What tasks import of this package: executors need numpy and pyarrow, but no copy of it."""
    root, target = Path(__file__).parent, work / "spark_analytics.zip"
    with zipfile.ZipFile(target, "w") as packed:
        for name in ("__init__.py", *TASKS_IMPORT):
            for source in sorted(root.glob(name)):
                packed.write(source, f"{root.name}/{source.relative_to(root)}")
    return target


def _keep_local_files_where_they_are(spark: SparkSession) -> None:
    """Hadoop writes a file of checksums beside each local file, and moves one that does not match
    to `bad_files` at the root of the disk. What cannot be read goes to our own quarantine.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark's one way to Hadoop's file systems
    session: Any = spark._jsparkSession  # noqa: SLF001 - see above
    conf = session.sessionState().newHadoopConf()
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(conf)
    local.setVerifyChecksum(False)
    local.setWriteChecksum(False)


def lake_settings(data_uri: str, catalog: CatalogInput | None) -> dict[str, str]:
    """The catalog of the lake's tables, which lie below the data URI. Nothing of it is secret."""
    key = f"spark.sql.catalog.{CATALOG}"
    kind = (
        {"type": "hadoop"}
        if catalog is None
        else {"type": "jdbc", "uri": catalog.uri, "jdbc.schema-version": "V1"}
    )
    # A stream has a session of its own: what it commits must be seen by the others at once.
    found = {"warehouse": f"{data_uri.rstrip('/')}/tables", "cache-enabled": "false", **kind}
    return {
        key: "org.apache.iceberg.spark.SparkCatalog",
        **{f"{key}.{name}": value for name, value in found.items()},
    }


def log_in_to_catalog(spark: SparkSession, login: Mapping[str, str]) -> None:
    """After the start: what a session starts with is on the command line of its JVM."""
    for name, value in login.items():
        spark.conf.set(f"spark.sql.catalog.{CATALOG}.jdbc.{name}", value)


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
    if config.catalog is not None:
        lines += _addresses(_HOSTS_OF_JDBC.findall(config.catalog.uri))
    for hosts in given:
        lines += [f"{address} {name}" for name, found in hosts.items() for address in found]
    path = Path(config.work_dir).resolve() / "hosts"
    path.write_text("\n".join(lines) + "\n")
    return path


def _addresses(names: Sequence[str]) -> list[str]:
    """Lines of a hosts file; the operator named these, no tenant did. Unknown ones have none."""
    found = []
    for name in names:
        with contextlib.suppress(OSError):
            known = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            found += [f"{address[4][0]} {name}" for address in known]
    return found

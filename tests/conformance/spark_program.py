"""`python spark_program.py <settings.json>`: one job of Spark's own Kafka source and sink; answers in JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

SETTINGS: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
READ_OPTIONS: dict[str, str] = SETTINGS["options"]


def session() -> SparkSession:
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.jars", ",".join(SETTINGS["jars"]))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "512m")
        .getOrCreate()
    )


def changed(frame: DataFrame) -> DataFrame:
    """The transform: values in capitals, with a header that names where each came from."""
    origin = f.concat_ws("/", "partition", "offset").cast("binary")
    header = f.struct(f.lit("origin").alias("key"), origin.alias("value"))
    return frame.select("key", f.upper("value").alias("value"), f.array(header).alias("headers"))


def batch(spark: SparkSession) -> list[list[Any]]:
    """`[partition, offset, value]` of what the options choose."""
    frame = spark.read.format("kafka").options(**READ_OPTIONS).load()
    rows = frame.select("partition", "offset", f.col("value").cast("string"))
    return [list(row) for row in rows.orderBy("partition", "offset").collect()]


def write(spark: SparkSession) -> int:
    """Read a batch, change it, write it as a batch; how many there were."""
    frame = spark.read.format("kafka").options(**READ_OPTIONS).load()
    changed(frame).write.format("kafka").options(**SETTINGS["sink"]).save()
    return frame.count()


def stream(spark: SparkSession) -> int:
    """The same as a stream with a checkpoint, up to what is there now; how many rows it took."""
    frame = spark.readStream.format("kafka").options(**READ_OPTIONS).load()
    sink = changed(frame).writeStream.format("kafka").options(**SETTINGS["sink"])
    query = sink.option("checkpointLocation", SETTINGS["checkpoint"])
    query = (
        query.trigger(availableNow=True)
        if SETTINGS["ends"]
        else query.trigger(processingTime="0 seconds")
    )
    started = query.start()
    print("started", flush=True)
    started.awaitTermination()
    return sum(progress["numInputRows"] for progress in started.recentProgress)


def main() -> None:
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    job = {"batch": batch, "write": write, "stream": stream}[SETTINGS["job"]]
    print(json.dumps({"answer": job(spark)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()

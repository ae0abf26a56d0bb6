"""Where each cluster's windows begin, as an expression over `cluster_id`."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from pyspark.sql import Column

    from spark_analytics.contracts.runs import RunConfig


def start_ms(config: RunConfig) -> Column:
    """Milliseconds, for rows of the run's clusters; of others the run's own start."""
    later = {
        cluster.cluster_id: config.start_of(cluster)
        for cluster in config.clusters
        if config.start_of(cluster) != config.from_ts_ms
    }
    whole = F.lit(config.from_ts_ms)
    if not later:
        return whole
    pairs = chain.from_iterable(later.items())
    return F.coalesce(F.create_map(*map(F.lit, pairs))[F.col("cluster_id")], whole)

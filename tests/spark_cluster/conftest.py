"""The lakes of these runs are filled by the session that the other Spark tests use."""

from tests.spark_analytics.conftest import spark

__all__ = ["spark"]

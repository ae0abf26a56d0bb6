"""Checks on telemetry. Pure: columns in, column out; a fault has a name and keeps its record."""

from spark_analytics.quality.slices import fault

__all__ = ["fault"]

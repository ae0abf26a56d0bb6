"""Telemetry collector, supervised Spark runs, and the gold tables they fill."""

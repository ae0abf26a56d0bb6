"""Runs on a standalone Spark cluster: the same bytes as on one machine, whoever dies meanwhile."""

"""Ports for tests and for the simulator: deterministic, and they fail on demand."""

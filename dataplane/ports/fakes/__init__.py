"""Ports for tests and for the simulator: deterministic, and they can be told to fail."""

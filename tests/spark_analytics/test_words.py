"""Errors of Spark, as a run's result tells them."""

import pytest

from spark_analytics.io.words import one_line

WORKER = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
MemoryError: no memory for kc_b

\tat org.apache.spark.api.python.BasePythonRunner"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WORKER, "MemoryError: no memory for kc_b"),
        ("Job aborted\nCaused by: one\n\tat x\nCaused by: two", "two"),
        ("\n first line \nsecond", "first line"),
        ("Traceback (most recent call last):\n  cut off", "Traceback (most recent call last):"),
        ("", "ValueError"),
    ],
)
def test_the_innermost_cause_is_one_line(text, said):
    assert one_line(ValueError(text)) == said


def test_a_long_one_is_cut():
    assert one_line(ValueError("x" * 1000)) == "x" * 300

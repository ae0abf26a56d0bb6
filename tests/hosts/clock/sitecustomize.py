"""Python imports this at its start where this folder is on its path: a host with a clock of its own.

Agents and brokers read the time of day by these two functions alone (`runtime/os_clock.py`).
"""

import os
import time

_offset_s = int(os.environ.get("PENSTOCK_TEST_CLOCK_OFFSET_S", "0"))
if _offset_s:
    _time, _time_ns = time.time, time.time_ns
    time.time = lambda: _time() + _offset_s
    time.time_ns = lambda: _time_ns() + _offset_s * 1_000_000_000

"""Statuses and risks by the collector itself, from its newest samples. Pure: no clock, no I/O.

```
evaluator ► groups ► partitions ► trails | logs ► intake
```
"""

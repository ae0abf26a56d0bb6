"""The rebalance planner: racks first, then bytes, replicas, leaders. Pure; see README.md."""

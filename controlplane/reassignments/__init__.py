"""Moving partitions between brokers: planned with sizes, throttled, verified, restorable."""

"""What a Spark run costs, on synthetic telemetry."""

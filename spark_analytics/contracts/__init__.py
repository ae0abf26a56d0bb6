"""What the collector, the Spark run and the control plane agree on. No pyspark, no Django."""

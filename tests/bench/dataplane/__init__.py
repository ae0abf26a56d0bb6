"""`make bench-dataplane`: our brokers beside a real Apache Kafka, under one load generator."""

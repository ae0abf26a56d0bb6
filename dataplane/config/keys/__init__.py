"""The keys, by subject. Names, types and defaults are those of Kafka 3.9."""

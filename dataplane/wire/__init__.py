"""Kafka's wire protocol: frames, headers, messages, record batches. Bytes in, objects out."""

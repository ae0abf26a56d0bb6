"""The only access to brokers: a port, one implementation over the Kafka protocol, one fake."""

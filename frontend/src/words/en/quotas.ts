/** Quotas by Kafka's key: what they bound, and the unit that a form asks in. */
export const quotas = {
  producer_byte_rate: { title: "Produces at most", unit: "MiB per second" },
  consumer_byte_rate: { title: "Consumes at most", unit: "MiB per second" },
  request_percentage: { title: "Request time at most", unit: "% of one thread" },
  controller_mutation_rate: { title: "Topic changes at most", unit: "partitions per second" },
} as const;

import { topicPartitions } from "./en/topic-partitions";
import { shown } from "./shown";

export const words = shown("topicPartitions", topicPartitions);

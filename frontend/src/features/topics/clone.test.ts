import { describe, expect, it } from "vitest";
import { config, partition, topic } from "@/testing/samples";
import { startLike } from "./clone";

const CHOICES = { retention: ["", "3600000"], cleanup: ["", "compact"] };

describe("a topic like another one", () => {
  it("has its partitions, replication factor and own settings, and another name", () => {
    const found = startLike(
      topic({
        partitions: [partition({ replicas: [1, 2] }), partition({ partition: 1, replicas: [2, 3] })],
        configs: [
          config(),
          config({ name: "segment.bytes", value: "1048576" }),
          config({ name: "cleanup.policy", value: "compact,delete" }),
          config({ name: "max.message.bytes", value: "1000", source: "STATIC_BROKER_CONFIG" }),
          config({ name: "leader.replication.throttled.replicas", value: "0:1" }),
        ],
      }),
      CHOICES,
    );
    expect(found).toEqual({
      name: "sales-copy",
      partitions: 2,
      replication_factor: 2,
      retention: "3600000",
      cleanup: "",
      configs: "segment.bytes=1048576\ncleanup.policy=compact,delete",
    });
  });

  it("keeps a name that Kafka takes, and starts without settings that are not known", () => {
    const found = startLike(topic({ name: "x".repeat(249), configs: null, partitions: [] }), CHOICES);
    expect(found.name).toBe(`${"x".repeat(244)}-copy`);
    expect([found.configs, found.replication_factor]).toEqual(["", 1]);
  });
});

// node round_trip.js <bootstrap> <topic> <group> [user password]
// Creates the topic, produces with acks=all, consumes in a group, commits, resumes. Prints "ok".
import assert from "node:assert/strict";
import kafkajs from "kafkajs";

const { Kafka, logLevel } = kafkajs;
const [bootstrap, topic, groupId, username, password] = process.argv.slice(2);
const kafka = new Kafka({
  clientId: "conformance",
  brokers: bootstrap.split(","),
  logLevel: logLevel.ERROR,
  sasl: username ? { mechanism: "scram-sha-256", username, password } : undefined,
});

const admin = kafka.admin();
const producer = kafka.producer({ idempotent: true });

async function consume(count) {
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const values = [];
  await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`only ${values.length} of ${count} records`)),
      60_000,
    );
    consumer.run({
      eachMessage: async ({ message }) => {
        values.push(message.value.toString());
        if (values.length === count) {
          clearTimeout(timer);
          resolve();
        }
      },
    });
  });
  await consumer.disconnect();
  return values;
}

await admin.connect();
await admin.createTopics({
  topics: [{ topic, numPartitions: 2, replicationFactor: 3 }],
});
await producer.connect();
const messages = Array.from({ length: 200 }, (_, n) => ({ key: `k${n % 7}`, value: `v${n}` }));
await producer.send({ topic, acks: -1, messages });
const first = await consume(200);
assert.deepEqual(first.sort(), messages.map((m) => m.value).sort());
await producer.send({ topic, acks: -1, messages: [{ value: "last" }] });
assert.deepEqual(await consume(1), ["last"]);
const committed = await admin.fetchOffsets({ groupId, topics: [topic] });
const total = committed[0].partitions.reduce((sum, p) => sum + Number(p.offset), 0);
assert.equal(total, 201);
await admin.deleteTopics({ topics: [topic] });
await producer.disconnect();
await admin.disconnect();
console.log("ok");

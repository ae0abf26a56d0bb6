// node read_table.js <bootstrap> <topic> <group> <last key> <timeout ms>
// Reads a topic from its beginning until the record with the last key, or until time is up.
// Prints each key's last value as JSON.
import kafkajs from "kafkajs";

const { Kafka, logLevel } = kafkajs;
const [bootstrap, topic, groupId, lastKey, timeoutMs] = process.argv.slice(2);
const kafka = new Kafka({
  clientId: "conformance",
  brokers: bootstrap.split(","),
  logLevel: logLevel.ERROR,
});

const table = {};
const consumer = kafka.consumer({ groupId, maxBytesPerPartition: 1000 });
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
await new Promise((resolve) => {
  const timer = setTimeout(resolve, Number(timeoutMs));
  consumer.run({
    eachMessage: async ({ message }) => {
      const key = message.key.toString();
      table[key] = message.value.toString();
      if (key === lastKey) {
        clearTimeout(timer);
        resolve();
      }
    },
  });
});
await consumer.disconnect();
console.log(JSON.stringify(table));

// node contract.js <settings.json>: the contract of tests/conformance/contract by kafkajs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import kafkajs from "kafkajs";

const { Kafka, logLevel, CompressionTypes } = kafkajs;
const [settingsPath, mode, modeTopic] = process.argv.slice(2);
const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
const { run, passwords, skip } = settings;
const RECORDS = 60;
const { version } = JSON.parse(readFileSync(new URL("./node_modules/kafkajs/package.json", import.meta.url)));

const common = { clientId: "contract", logLevel: logLevel.NOTHING, retry: { retries: 5, maxRetryTime: 3000 } };
const kafka = new Kafka({ ...common, brokers: settings.bootstrap.split(",") });
const secure = (username, mechanism, password = passwords[username]) =>
  new Kafka({
    ...common,
    retry: { retries: 1 },
    brokers: settings.secure_bootstrap.split(","),
    ssl: { ca: [readFileSync(settings.ca, "utf8")] },
    sasl: { mechanism, username, password },
  });
const values = (label) => Array.from({ length: RECORDS }, (_, n) => `${label}-${n}`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function eventually(check, what, seconds = 30) {
  const ends = Date.now() + seconds * 1000;
  while (Date.now() < ends) {
    if (await check()) return;
    await sleep(100);
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

async function withAdmin(body, client = kafka) {
  const admin = client.admin();
  await admin.connect();
  try {
    return await body(admin);
  } finally {
    await admin.disconnect();
  }
}

const create = (topic, numPartitions = 2, client = kafka) =>
  withAdmin(
    (admin) => admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 3 }] }),
    client,
  );

async function produce(topic, items, options = {}, client = kafka, producerOptions = {}) {
  const producer = client.producer(producerOptions);
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: items.map((value) => ({ value })), ...options });
  } finally {
    await producer.disconnect();
  }
}

async function member(groupId, topic, client = kafka) {
  const consumer = client.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 500 });
  const state = { consumer, values: [], partitions: [] };
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    state.partitions = payload.memberAssignment[topic] ?? [];
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      state.values.push(message.value.toString());
    },
  });
  return state;
}

async function readAll(topic, count, client = kafka) {
  const state = await member(topic, topic, client);
  try {
    await eventually(() => state.values.length >= count, `${count} records`);
    return state.values;
  } finally {
    await state.consumer.disconnect();
  }
}

const produceWith = (name) => async () => {
  const topic = `${run}-${name}`;
  const compression = name === "gzip" ? CompressionTypes.GZIP : CompressionTypes.None;
  await create(topic);
  for (const acks of [0, 1, -1]) await produce(topic, values(`a${acks}`), { acks, compression });
  const expected = [0, 1, -1].flatMap((acks) => values(`a${acks}`));
  assert.deepEqual((await readAll(topic, 3 * RECORDS)).sort(), expected.sort());
};

const sasl = (mechanism) => async () => {
  const topic = `${run}-${mechanism}`;
  const client = secure("admin", mechanism);
  await create(topic, 1, client);
  await produce(topic, values("s"), {}, client);
  assert.deepEqual(await readAll(topic, RECORDS, client), values("s"));
  await assert.rejects(
    withAdmin((admin) => admin.listTopics(), secure("admin", mechanism, "wrong")),
    /SASL|uthentication/,
  );
};

const rule = (name, principal, operation) => ({
  resourceType: 2,
  resourceName: name,
  resourcePatternType: 3,
  principal,
  host: "*",
  operation,
  permissionType: 3,
});

const cases = {
  "produce.none": produceWith("none"),
  "produce.gzip": produceWith("gzip"),
  "produce.idempotent": async () => {
    const topic = `${run}-idempotent`;
    await create(topic, 1);
    await produce(topic, values("i"), {}, kafka, { idempotent: true, maxInFlightRequests: 1 });
    assert.deepEqual(await readAll(topic, RECORDS), values("i"));
  },
  "group.join_leave": async () => {
    const topic = `${run}-group`;
    await create(topic, 4);
    const one = await member(topic, topic);
    const two = await member(topic, topic);
    await eventually(() => one.partitions.length === 2 && two.partitions.length === 2, "two each");
    await two.consumer.disconnect();
    await eventually(() => one.partitions.length === 4, "all partitions");
    await produce(topic, values("g"));
    await eventually(() => one.values.length >= RECORDS, "the records");
    assert.deepEqual(one.values.sort(), values("g").sort());
    await one.consumer.disconnect();
  },
  "group.crash": async () => {
    const topic = `${run}-crash`;
    await create(topic, 1);
    await produce(topic, values("c"));
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), settingsPath, "hang", topic]);
    const committed = async () => {
      const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId: topic, topics: [topic] }));
      return found.partitions[0]?.offset;
    };
    await eventually(async () => (await committed()) === "20", "the member has committed");
    child.kill("SIGKILL");
    assert.deepEqual((await readAll(topic, RECORDS - 20)).slice(0, 40), values("c").slice(20));
  },
  "admin.topics": () =>
    withAdmin(async (admin) => {
      const topic = `${run}-topics`;
      await admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 3 }] });
      await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
      const metadata = await admin.fetchTopicMetadata({ topics: [topic] });
      assert.equal(metadata.topics[0].partitions.length, 3);
      await admin.deleteTopics({ topics: [topic] });
      await eventually(async () => !(await admin.listTopics()).includes(topic), "it is gone");
    }),
  "admin.configs": () =>
    withAdmin(async (admin) => {
      const name = `${run}-configs`;
      await admin.createTopics({ topics: [{ topic: name, numPartitions: 1, replicationFactor: 3 }] });
      const retention = async () => {
        const { resources } = await admin.describeConfigs({ resources: [{ type: 2, name }] });
        return resources[0].configEntries.find((e) => e.configName === "retention.ms").configValue;
      };
      assert.equal(await retention(), "604800000");
      const configEntries = [{ name: "retention.ms", value: "1000" }];
      await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name, configEntries }] });
      await eventually(async () => (await retention()) === "1000", "the new value");
    }),
  "admin.groups": async () => {
    const topic = `${run}-groups`;
    await create(topic, 1);
    await produce(topic, values("a"));
    await readAll(topic, RECORDS);
    await withAdmin(async (admin) => {
      const { groups } = await admin.listGroups();
      assert.ok(groups.some((group) => group.groupId === topic));
      const described = await admin.describeGroups([topic]);
      assert.equal(described.groups[0].state, "Empty");
      const [found] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
      assert.equal(found.partitions[0].offset, String(RECORDS));
      await admin.deleteGroups([topic]);
    });
  },
  "admin.acls": () =>
    withAdmin(async (admin) => {
      const acl = rule(`${run}-acls`, "User:somebody", 3);
      await admin.createAcls({ acl: [acl] });
      const filter = { ...acl, principal: undefined, host: undefined, operation: 1, permissionType: 1 };
      const { resources } = await admin.describeAcls(filter);
      assert.equal(resources[0].acls[0].principal, "User:somebody");
      const { filterResponses } = await admin.deleteAcls({ filters: [filter] });
      assert.equal(filterResponses[0].matchingAcls.length, 1);
    }),
  "sasl.plain": sasl("plain"),
  "sasl.scram256": sasl("scram-sha-256"),
  "sasl.scram512": sasl("scram-sha-512"),
  "acl.denied_allowed": async () => {
    const topic = `${run}-acl`;
    const alice = secure("alice", "scram-sha-256");
    await create(topic, 1);
    await assert.rejects(produce(topic, ["x"], {}, alice), /uthorized/);
    await withAdmin((admin) => admin.createAcls({ acl: [rule(topic, "User:alice", 4)] }));
    await sleep(1000);
    await produce(topic, ["x"], {}, alice);
  },
  "txn.commit_abort": async () => {
    const topic = `${run}-txn`;
    await create(topic, 1);
    const producer = kafka.producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    for (const [label, end] of [["kept", "commit"], ["dropped", "abort"], ["last", "commit"]]) {
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: values(label).map((value) => ({ value })) });
      await transaction[end]();
    }
    await producer.disconnect();
    assert.deepEqual(await readAll(topic, 2 * RECORDS), [...values("kept"), ...values("last")]);
  },
};

// A member that commits after 20 records and then says nothing any more.
async function hang(topic) {
  const consumer = kafka.consumer({ groupId: topic, sessionTimeout: 6000, heartbeatInterval: 500 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (message.offset === "19") await consumer.commitOffsets([{ topic, partition, offset: "20" }]);
    },
  });
}

if (mode === "hang") {
  await hang(modeTopic);
} else {
  console.log(JSON.stringify({ version }));
  for (const [name, body] of Object.entries(cases)) {
    if (name in skip || (settings.only.length && !settings.only.includes(name))) continue;
    const began = Date.now();
    let [status, detail] = ["passed", ""];
    try {
      await body();
    } catch (error) {
      console.error(error);
      [status, detail] = ["failed", `${error.name}: ${error.message}`.slice(0, 300)];
    }
    console.log(JSON.stringify({ case: name, status, detail, ms: Date.now() - began }));
  }
  console.log(JSON.stringify({ done: true }));
  process.exit(0);
}

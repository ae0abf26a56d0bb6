// node contract.js <settings.json>: the contract of tests/conformance/contract by kafkajs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import kafkajs from "kafkajs";
import { eventually, judge, mode, modeTopic, passwords, RECORDS, run, settings, settingsPath, sleep, tokens, values, versionOf } from "./shared.js";

const { Kafka, logLevel, CompressionTypes } = kafkajs;

const common = { clientId: "contract", logLevel: logLevel.NOTHING, retry: { retries: 5, maxRetryTime: 3000 } };
const kafka = new Kafka({ ...common, brokers: settings.bootstrap.split(",") });
const overTls = (sasl) =>
  new Kafka({
    ...common,
    retry: { retries: 1 },
    brokers: settings.secure_bootstrap.split(","),
    ssl: { ca: [readFileSync(settings.ca, "utf8")] },
    sasl,
  });
const secure = (username, mechanism, password = passwords[username]) => overTls({ mechanism, username, password });
const bearer = (name) =>
  overTls({ mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: tokens[name] }) });

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

const rule = (resourceName, principal, operation, resourceType = 2) => ({
  resourceType,
  resourceName,
  resourcePatternType: 3,
  principal,
  host: "*",
  operation,
  permissionType: 3,
});

async function allow(name, operation, type) {
  await withAdmin((admin) => admin.createAcls({ acl: [rule(name, "User:alice", operation, type)] }));
  await sleep(1000);
}

const committed = (group) =>
  withAdmin(async (admin) => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [group] });
    return found.partitions[0]?.offset;
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
    await eventually(async () => (await committed(topic)) === "20", "the member has committed");
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
  "admin.offsets": async () => {
    const topic = `${run}-offsets`;
    await create(topic, 1);
    await produce(topic, values("o"));
    await readAll(topic, RECORDS);
    const partitions = [{ partition: 0, offset: "10" }];
    await withAdmin((admin) => admin.setOffsets({ groupId: topic, topic, partitions }));
    assert.equal(await committed(topic), "10");
    assert.deepEqual(await readAll(topic, RECORDS - 10), values("o").slice(10));
  },
  "admin.records": () =>
    withAdmin(async (admin) => {
      const topic = `${run}-records`;
      await create(topic, 1);
      await produce(topic, values("r"));
      await admin.fetchTopicOffsets(topic); // the client deletes from topics that it knows only
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "20" }] });
      const [{ low, high }] = await admin.fetchTopicOffsets(topic);
      assert.deepEqual([low, high], ["20", String(RECORDS)]);
      assert.deepEqual(await readAll(topic, RECORDS - 20), values("r").slice(20));
    }),
  "admin.reassign": () =>
    withAdmin(async (admin) => {
      const topic = `${run}-reassign`;
      await create(topic, 1);
      await produce(topic, values("m"));
      const replicas = async () =>
        (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions[0].replicas;
      const move = async (wanted) => {
        const partitionAssignment = [{ partition: 0, replicas: wanted }];
        await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment }] });
        await eventually(async () => {
          const { topics } = await admin.listPartitionReassignments({ topics: [{ topic, partitions: [0] }] });
          return topics.length === 0 && String(await replicas()) === String(wanted);
        }, `the replicas are ${wanted}`);
      };
      const [one, two, three] = await replicas();
      await move([one, two]);
      await move([three, one, two]);
      assert.deepEqual(await readAll(topic, RECORDS), values("m"));
    }),
  "admin.cluster": () =>
    withAdmin(async (admin) => {
      const { brokers, controller, clusterId } = await admin.describeCluster();
      assert.equal(brokers.length, 3);
      assert.ok(brokers.some(({ nodeId }) => nodeId === controller));
      assert.equal(clusterId.length, 22);
    }),
  "sasl.plain": sasl("plain"),
  "sasl.scram256": sasl("scram-sha-256"),
  "sasl.scram512": sasl("scram-sha-512"),
  "sasl.oauthbearer": async () => {
    const topic = `${run}-oauth`;
    await create(topic, 1, bearer("admin"));
    await produce(topic, values("s"), {}, bearer("admin"));
    assert.deepEqual(await readAll(topic, RECORDS, bearer("admin")), values("s"));
    // The client takes the broker's reason for its consent, goes on, and is cut off.
    await assert.rejects(withAdmin((admin) => admin.listTopics(), bearer("wrong")), /SASL|uthentication|Closed connection/);
  },
  "acl.groups": async () => {
    const topic = `${run}-aclgroup`;
    const alice = secure("alice", "scram-sha-256");
    await create(topic, 1);
    await produce(topic, values("a"));
    await allow(topic, 3);
    const crashed = await new Promise((resolve, reject) => {
      const consumer = alice.consumer({ groupId: topic, retry: { retries: 0 } });
      consumer.on(consumer.events.CRASH, ({ payload }) => consumer.disconnect().then(() => resolve(payload.error)));
      consumer
        .connect()
        .then(() => consumer.subscribe({ topics: [topic], fromBeginning: true }))
        .then(() => consumer.run({ eachMessage: async () => reject(new Error("it was not denied")) }))
        .catch((error) => resolve(error));
    });
    // The client's words for what its coordinator lookup is answered.
    assert.match(`${crashed.message} ${crashed.cause?.message ?? ""}`, /Failed to find group coordinator|Not authorized to access group/);
    await allow(topic, 3, 3);
    assert.deepEqual(await readAll(topic, RECORDS, alice), values("a"));
  },
  "acl.transactional_ids": async () => {
    const topic = `${run}-aclid`;
    await create(topic, 1);
    const alice = secure("alice", "scram-sha-256");
    const begin = async () => {
      const producer = alice.producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      try {
        await (await producer.transaction()).abort();
      } finally {
        await producer.disconnect();
      }
    };
    await allow(topic, 4); // may produce: the client asks for a plain producer id first
    await assert.rejects(begin(), /Transactional ID authorization failed|Failed to find group coordinator/i);
    await allow(topic, 4, 5);
    await begin();
  },
  "acl.denied_allowed": async () => {
    const topic = `${run}-acl`;
    const alice = secure("alice", "scram-sha-256");
    await create(topic, 1);
    await assert.rejects(produce(topic, ["x"], {}, alice), /uthorized/);
    await allow(topic, 4);
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
  "txn.offsets": async () => {
    const [topic, target] = [`${run}-chain`, `${run}-chain-out`];
    await create(topic, 1);
    await create(target, 1);
    await produce(topic, values("x"));
    const producer = kafka.producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const expected = values("x").map((value) => value.toUpperCase());
    const offsets = [{ topic, partitions: [{ partition: 0, offset: String(RECORDS) }] }];
    for (const end of ["abort", "commit"]) {
      const reader = kafka.consumer({ groupId: topic, sessionTimeout: 6000, heartbeatInterval: 500 });
      const taken = [];
      await reader.connect();
      await reader.subscribe({ topics: [topic], fromBeginning: true });
      const eachMessage = async ({ message }) => void taken.push(message.value.toString().toUpperCase());
      await reader.run({ autoCommit: false, eachMessage });
      await eventually(() => taken.length >= RECORDS, "the records");
      const transaction = await producer.transaction();
      await transaction.send({ topic: target, messages: taken.map((value) => ({ value })) });
      await transaction.sendOffsets({ consumerGroupId: topic, topics: offsets });
      await transaction[end]();
      const wanted = end === "commit" ? String(RECORDS) : "-1";
      await eventually(async () => (await committed(topic)) === wanted, `the offset is ${wanted}`);
      await reader.disconnect();
    }
    await producer.disconnect();
    assert.deepEqual(await readAll(target, RECORDS), expected);
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
  await judge(versionOf("kafkajs"), cases);
}

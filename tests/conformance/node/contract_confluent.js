// node contract_confluent.js <settings.json>: the contract by @confluentinc/kafka-javascript, in its manner of kafkajs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import confluent from "@confluentinc/kafka-javascript";
import kafkajs from "kafkajs";
import { Absent, eventually, judge, mode, modeProtocol, modeTopic, passwords, RECORDS, run, settings, settingsPath, sleep, tokens, values, versionOf } from "./shared.js";

const { Kafka, logLevel, CompressionTypes, ErrorCodes } = confluent.KafkaJS;
const quiet = { logLevel: logLevel.NOTHING };
const kafka = new Kafka({ kafkaJS: { ...quiet, brokers: settings.bootstrap.split(",") } });
const overTls = (sasl) =>
  new Kafka({
    kafkaJS: { ...quiet, brokers: settings.secure_bootstrap.split(","), ssl: true, sasl, connectionTimeout: 4000 },
    "ssl.ca.location": settings.ca,
  });
const secure = (username, mechanism, password = passwords[username]) => overTls({ mechanism, username, password });
const bearer = (name) =>
  overTls({
    mechanism: "oauthbearer",
    oauthBearerProvider: async () => ({ value: tokens[name], principal: "admin", lifetime: Date.now() + 600_000 }),
  });

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
  withAdmin((admin) => admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 3 }] }), client);

async function produce(topic, items, options = {}, client = kafka) {
  const producer = client.producer({ kafkaJS: options });
  await producer.connect();
  try {
    await producer.send({ topic, messages: items.map((value) => ({ value })) });
  } finally {
    await producer.disconnect();
  }
}

const CLASSIC = { "session.timeout.ms": 6000 };
const CONSUMER = { "group.protocol": "consumer" };

async function member(groupId, topic, client = kafka, config = CLASSIC, run = {}) {
  const autoCommit = run.autoCommit ?? true;
  const consumer = client.consumer({ ...config, kafkaJS: { groupId, fromBeginning: true, autoCommit } });
  const state = { consumer, values: [] };
  await consumer.connect();
  await consumer.subscribe({ topics: [topic] });
  const take = async ({ message }) => void state.values.push(message.value.toString());
  await consumer.run({ eachMessage: run.eachMessage?.(consumer, state) ?? take });
  state.partitions = () => consumer.assignment().map(({ partition }) => partition).sort();
  return state;
}

async function readAll(topic, count, client = kafka, config = CLASSIC) {
  const state = await member(topic, topic, client, config);
  try {
    await eventually(() => state.values.length >= count, `${count} records`, 45);
    return state.values;
  } finally {
    await state.consumer.disconnect();
  }
}

const committed = (group, topic = group) =>
  withAdmin(async (admin) => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return found?.partitions[0]?.offset;
  });

// The client has no call for it: the rule is made by another's.
async function allow(resourceName, operation, resourceType = 2) {
  const admin = new kafkajs.Kafka({ brokers: settings.bootstrap.split(","), logLevel: 0 }).admin();
  const acl = { resourceType, resourceName, resourcePatternType: 3, principal: "User:alice", host: "*", operation, permissionType: 3 };
  await admin.connect();
  await admin.createAcls({ acl: [acl] });
  await admin.disconnect();
  await sleep(1000);
}

const produceWith = (name) => async () => {
  const topic = `${run}-${name}`;
  const compression = CompressionTypes[name === "none" ? "None" : name.toUpperCase()];
  await create(topic);
  for (const acks of [0, 1, -1]) await produce(topic, values(`a${acks}`), { acks, compression });
  const expected = [0, 1, -1].flatMap((acks) => values(`a${acks}`));
  assert.deepEqual((await readAll(topic, 3 * RECORDS)).sort(), expected.sort());
};

const joinsAndLeaves = (name, config) => async () => {
  const topic = `${run}-${name}`;
  await create(topic, 4);
  const one = await member(topic, topic, kafka, config);
  const two = await member(topic, topic, kafka, config);
  await eventually(() => one.partitions().length === 2 && two.partitions().length === 2, "two each");
  await two.consumer.disconnect();
  await eventually(() => one.partitions().length === 4, "all partitions");
  await produce(topic, values("g"));
  await eventually(() => one.values.length >= RECORDS, "the records");
  assert.deepEqual(one.values.sort(), values("g").sort());
  await one.consumer.disconnect();
};

const crash = (protocol, config) => async () => {
  const topic = `${run}-crash-${protocol}`;
  await create(topic, 1);
  await produce(topic, values("c"));
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), settingsPath, "hang", topic, protocol]);
  await eventually(async () => (await committed(topic)) === "20", "the member has committed");
  child.kill("SIGKILL");
  assert.deepEqual((await readAll(topic, RECORDS - 20, kafka, config)).slice(0, 40), values("c").slice(20));
};

const migration = async () => {
  const topic = `${run}-migration`;
  await create(topic, 4);
  const found = new Set();
  const joins = (config) => {
    const eachMessage = () => async ({ message }) => void found.add(message.value.toString());
    return member(topic, topic, kafka, config, { eachMessage });
  };
  const classic = { ...CLASSIC, "heartbeat.interval.ms": 500 };
  // Every partition has one reader, every member some, and all that is written is read.
  const share = async (label, ...members) => {
    const shared = () => {
      const parts = members.map((each) => each.partitions());
      return parts.every((each) => each.length) && parts.flat().sort().join() === "0,1,2,3";
    };
    await eventually(shared, `${label}: the partitions are shared`);
    await produce(topic, values(label));
    await eventually(() => shared() && values(label).every((value) => found.has(value)), `${label}: its records`);
  };
  const [one, two] = [await joins(classic), await joins(classic)];
  await share("before", one, two);
  const three = await joins(CONSUMER);
  await share("begun", one, two, three);
  await one.consumer.disconnect();
  await share("half", two, three);
  await two.consumer.disconnect();
  await share("rolled", three);
  const four = await joins(classic);
  await share("back", three, four);
  await three.consumer.disconnect();
  await share("after", four);
  await four.consumer.disconnect();
};

const logsIn = async (client) => {
  try {
    await withAdmin((admin) => admin.listTopics(), client);
    return true;
  } catch (error) {
    assert.ok(/uthentication|SASL|transport failure/i.test(`${error.message} ${error.code}`), `${error.code} ${error.message}`);
    return false;
  }
};

const login = (name, good, wrong) => async () => {
  const topic = `${run}-${name}`;
  await create(topic, 1, good);
  await produce(topic, values("s"), {}, good);
  assert.deepEqual(await readAll(topic, RECORDS, good), values("s"));
  assert.equal(await logsIn(wrong), false);
};
const sasl = (mechanism) => login(mechanism, secure("admin", mechanism), secure("admin", mechanism, "wrong"));

const transactional = (transactionalId, client = kafka) =>
  client.producer({ kafkaJS: { transactionalId, idempotent: true, maxInFlightRequests: 1 } });

const cases = {
  "produce.none": produceWith("none"),
  "produce.gzip": produceWith("gzip"),
  "produce.snappy": produceWith("snappy"),
  "produce.lz4": produceWith("lz4"),
  "produce.zstd": async () => {
    if (!confluent.features.includes("zstd")) throw new Absent("the library was built where libzstd's headers are not");
    await produceWith("zstd")();
  },
  "produce.idempotent": async () => {
    const topic = `${run}-idempotent`;
    await create(topic, 1);
    await produce(topic, values("i"), { idempotent: true, maxInFlightRequests: 1 });
    assert.deepEqual(await readAll(topic, RECORDS), values("i"));
  },
  "group.join_leave": joinsAndLeaves("group", CLASSIC),
  "group.consumer_protocol": joinsAndLeaves("new", CONSUMER),
  "group.crash": crash("classic", CLASSIC),
  "group.consumer_crash": crash("consumer", CONSUMER),
  "group.migration": migration,
  "group.static": async () => {
    const topic = `${run}-static`;
    await create(topic, 4);
    const made = (id) => member(topic, topic, kafka, { "group.instance.id": id, "session.timeout.ms": 20000 });
    let one = await made("one");
    const two = await made("two");
    await eventually(() => one.partitions().length === 2 && two.partitions().length === 2, "two each");
    const [ofOne, ofTwo] = [one.partitions(), two.partitions()];
    await one.consumer.disconnect();
    one = await made("one");
    await eventually(() => {
      assert.deepEqual(two.partitions(), ofTwo);
      return String(one.partitions()) === String(ofOne);
    }, "its partitions are back");
    await one.consumer.disconnect();
    await two.consumer.disconnect();
  },
  "admin.topics": () =>
    withAdmin(async (admin) => {
      const topic = `${run}-topics`;
      await create(topic, 2);
      const described = async () => (await admin.fetchTopicMetadata({ topics: [topic] }))[0];
      await eventually(async () => (await described()).partitions.length === 2, "two partitions");
      await admin.deleteTopics({ topics: [topic] });
      await eventually(async () => !(await admin.listTopics()).includes(topic), "it is gone");
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
      assert.equal(described.groups[0].state, confluent.KafkaJS.ConsumerGroupStates.EMPTY);
      assert.equal(await committed(topic), String(RECORDS));
      await admin.deleteGroups([topic]);
    });
  },
  "admin.records": () =>
    withAdmin(async (admin) => {
      const topic = `${run}-records`;
      await create(topic, 1);
      await produce(topic, values("r"));
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "20" }] });
      const [{ low, high }] = await admin.fetchTopicOffsets(topic);
      assert.deepEqual([low, high], ["20", String(RECORDS)]);
      assert.deepEqual(await readAll(topic, RECORDS - 20), values("r").slice(20));
    }),
  "sasl.plain": sasl("plain"),
  "sasl.scram256": sasl("scram-sha-256"),
  "sasl.scram512": sasl("scram-sha-512"),
  "sasl.oauthbearer": async () => {
    const topic = `${run}-oauth`;
    await create(topic, 1); // the client's administrator asks nobody for a token
    await produce(topic, values("s"), {}, bearer("admin"));
    assert.deepEqual(await readAll(topic, RECORDS, bearer("admin")), values("s"));
    await assert.rejects(produce(topic, ["x"], {}, bearer("wrong")));
  },
  "acl.denied_allowed": async () => {
    const topic = `${run}-acl`;
    const alice = secure("alice", "scram-sha-256");
    await create(topic, 1);
    await assert.rejects(produce(topic, ["x"], {}, alice), { code: ErrorCodes.ERR_TOPIC_AUTHORIZATION_FAILED });
    await allow(topic, 4);
    await produce(topic, ["x"], {}, alice);
  },
  "acl.groups": async () => {
    const topic = `${run}-aclgroup`;
    const alice = secure("alice", "scram-sha-256");
    await create(topic, 1);
    await produce(topic, values("a"));
    await allow(topic, 3);
    // The client keeps the refusal to its log: a member that is denied has no partition, and reads nothing.
    const denied = await member(topic, topic, alice);
    await sleep(5000);
    assert.deepEqual([denied.partitions(), denied.values], [[], []]);
    await denied.consumer.disconnect();
    await allow(topic, 3, 3);
    assert.deepEqual(await readAll(topic, RECORDS, alice), values("a"));
  },
  "acl.transactional_ids": async () => {
    const topic = `${run}-aclid`;
    const begin = async () => {
      const producer = transactional(topic, secure("alice", "scram-sha-256"));
      await producer.connect();
      await producer.disconnect();
    };
    await assert.rejects(begin(), { code: ErrorCodes.ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED });
    await allow(topic, 4, 5);
    await begin();
  },
  "txn.commit_abort": async () => {
    const topic = `${run}-txn`;
    await create(topic, 1);
    const producer = transactional(topic);
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
    const producer = transactional(topic);
    await producer.connect();
    const offsets = [{ topic, partitions: [{ partition: 0, offset: String(RECORDS) }] }];
    for (const end of ["abort", "commit"]) {
      const reader = await member(topic, topic, kafka, CLASSIC, { autoCommit: false });
      await eventually(() => reader.values.length >= RECORDS, "the records");
      const transaction = await producer.transaction();
      const messages = reader.values.map((value) => ({ value: value.toUpperCase() }));
      await transaction.send({ topic: target, messages });
      await transaction.sendOffsets({ consumer: reader.consumer, topics: offsets });
      await transaction[end]();
      const found = async () => (await committed(topic)) ?? null;
      if (end === "commit") await eventually(async () => (await found()) === String(RECORDS), "the offset");
      else assert.ok([null, "-1", "-1001"].includes(await found()), await found());
      await reader.consumer.disconnect();
    }
    await producer.disconnect();
    assert.deepEqual(await readAll(target, RECORDS), values("x").map((value) => value.toUpperCase()));
  },
};

// A member that commits after 20 records and then says nothing any more.
async function hang(topic, protocol) {
  const config = protocol === "consumer" ? CONSUMER : CLASSIC;
  const eachMessage = (consumer) => async ({ partition, message }) => {
    if (message.offset === "19") await consumer.commitOffsets([{ topic, partition, offset: "20" }]);
  };
  await member(topic, topic, kafka, config, { autoCommit: false, eachMessage });
}

if (mode === "hang") {
  await hang(modeTopic, modeProtocol);
} else {
  await judge(`${versionOf("@confluentinc/kafka-javascript")}, librdkafka ${confluent.librdkafkaVersion}`, cases);
}

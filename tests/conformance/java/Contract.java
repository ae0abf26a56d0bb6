// java -cp <Kafka's jars>:<classes> Contract <settings.json>: the contract of tests/conformance/contract by Kafka's own clients.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.common.utils.AppInfoParser;

public class Contract {
    interface Body {
        void run() throws Exception;
    }

    interface Check {
        boolean holds() throws Exception;
    }

    static final int RECORDS = 60;
    static final ObjectMapper JSON = new ObjectMapper();
    static final Duration TICK = Duration.ofMillis(200);
    static JsonNode settings;
    static String run;
    static Map<String, Object> plain;

    public static void main(String[] arguments) throws Exception {
        settings = JSON.readTree(new File(arguments[0]));
        run = settings.get("run").asText();
        plain = Map.of("bootstrap.servers", settings.get("bootstrap").asText());
        if (arguments.length > 1) {
            hang(arguments[1], arguments[2]);
        }
        Map<String, Body> cases = new LinkedHashMap<>();
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            cases.put("produce." + codec, () -> produceWith(codec));
        }
        cases.put("produce.idempotent", Contract::idempotent);
        cases.put("group.join_leave", () -> joinsAndLeaves("group", Map.of("session.timeout.ms", "6000")));
        cases.put("group.crash", () -> crash(arguments[0], "classic"));
        cases.put("group.consumer_protocol", () -> joinsAndLeaves("new", Map.of("group.protocol", "consumer")));
        cases.put("group.consumer_crash", () -> crash(arguments[0], "consumer"));
        cases.put("group.migration", MoreCases::migration);
        cases.put("group.static", MoreCases::staticMembers);
        cases.put("admin.topics", Contract::topics);
        cases.put("admin.configs", Contract::configs);
        cases.put("admin.groups", Contract::groups);
        cases.put("admin.offsets", AdminCases::offsets);
        cases.put("admin.acls", Contract::acls);
        cases.put("admin.records", AdminCases::records);
        cases.put("admin.reassign", AdminCases::reassign);
        cases.put("admin.elect", AdminCases::elect);
        cases.put("admin.log_dirs", AdminCases::logDirs);
        cases.put("admin.quotas", AdminCases::quotas);
        cases.put("admin.scram", AdminCases::scram);
        cases.put("admin.transactions", AdminCases::transactions);
        cases.put("admin.cluster", AdminCases::cluster);
        cases.put("sasl.plain", () -> sasl("PLAIN"));
        cases.put("sasl.scram256", () -> sasl("SCRAM-SHA-256"));
        cases.put("sasl.scram512", () -> sasl("SCRAM-SHA-512"));
        cases.put("sasl.oauthbearer", MoreCases::oauthbearer);
        cases.put("sasl.token", MoreCases::delegationTokens);
        cases.put("acl.denied_allowed", Contract::deniedAndAllowed);
        cases.put("acl.groups", MoreCases::groupRules);
        cases.put("acl.transactional_ids", MoreCases::transactionalIdRules);
        cases.put("txn.commit_abort", Contract::transactions);
        cases.put("txn.offsets", MoreCases::transactionOffsets);
        say(JSON.createObjectNode().put("version", AppInfoParser.getVersion()));
        List<String> only = new ArrayList<>();
        settings.get("only").forEach(name -> only.add(name.asText()));
        for (var each : cases.entrySet()) {
            if (!settings.get("skip").has(each.getKey()) && (only.isEmpty() || only.contains(each.getKey()))) {
                judge(each.getKey(), each.getValue());
            }
        }
        say(JSON.createObjectNode().put("done", true));
        Runtime.getRuntime().halt(0);
    }

    static void judge(String name, Body body) {
        long began = System.nanoTime();
        ObjectNode answer = JSON.createObjectNode().put("case", name).put("status", "passed").put("detail", "");
        try {
            body.run();
        } catch (Throwable error) {
            error.printStackTrace();
            String text = error.toString();
            answer.put("status", "failed").put("detail", text.substring(0, Math.min(300, text.length())));
        }
        say(answer.put("ms", (System.nanoTime() - began) / 1_000_000));
    }

    static void say(ObjectNode line) {
        System.out.println(line);
        System.out.flush();
    }

    // -- what the cases are made of

    static Map<String, Object> with(Map<String, Object> base, Object... pairs) {
        Map<String, Object> all = new HashMap<>(base);
        for (int at = 0; at < pairs.length; at += 2) {
            all.put((String) pairs[at], pairs[at + 1]);
        }
        return all;
    }

    static List<String> values(String label) {
        List<String> found = new ArrayList<>();
        for (int number = 0; number < RECORDS; number++) {
            found.add(label + "-" + number);
        }
        return found;
    }

    static void same(Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(found + " is not " + expected);
        }
    }

    static List<String> sorted(Collection<String> items) {
        List<String> copy = new ArrayList<>(items);
        Collections.sort(copy);
        return copy;
    }

    static void eventually(Check check, String what) throws Exception {
        long ends = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() < ends) {
            if (check.holds()) {
                return;
            }
            Thread.sleep(100);
        }
        throw new AssertionError("not within 30 s: " + what);
    }

    static void create(String topic, int partitions, Map<String, Object> login) throws Exception {
        try (Admin admin = Admin.create(login)) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3))).all().get();
        }
    }

    static KafkaProducer<String, String> producer(Map<String, Object> config) {
        return new KafkaProducer<>(with(config, "max.block.ms", 8000), new StringSerializer(), new StringSerializer());
    }

    static void produce(String topic, List<String> items, Map<String, Object> config) throws Exception {
        try (KafkaProducer<String, String> producer = producer(config)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String item : items) {
                sent.add(producer.send(new ProducerRecord<>(topic, item)));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get(20, TimeUnit.SECONDS);
            }
        }
    }

    static KafkaConsumer<String, String> consumer(String group, Map<String, Object> config) {
        Map<String, Object> all = with(
            config, "group.id", group, "auto.offset.reset", "earliest", "enable.auto.commit", false);
        return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
    }

    static List<String> read(KafkaConsumer<String, String> consumer, int count) {
        List<String> found = new ArrayList<>();
        long ends = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (found.size() < count && System.nanoTime() < ends) {
            consumer.poll(TICK).forEach(record -> found.add(record.value()));
        }
        if (found.size() < count) {
            throw new AssertionError(found.size() + " of " + count);
        }
        return found;
    }

    static List<String> readAll(String topic, int count, Map<String, Object> config) {
        try (KafkaConsumer<String, String> consumer = consumer(topic, config)) {
            consumer.subscribe(List.of(topic));
            List<String> found = read(consumer, count);
            consumer.commitSync();
            return found;
        }
    }

    // -- the cases

    static void produceWith(String codec) throws Exception {
        String topic = run + "-" + codec;
        create(topic, 2, plain);
        List<String> expected = new ArrayList<>();
        for (String acks : List.of("0", "1", "all")) {
            produce(topic, values(acks), with(plain, "acks", acks, "compression.type", codec, "enable.idempotence", false));
            expected.addAll(values(acks));
        }
        same(sorted(readAll(topic, 3 * RECORDS, plain)), sorted(expected));
    }

    static void idempotent() throws Exception {
        String topic = run + "-idempotent";
        create(topic, 1, plain);
        produce(topic, values("i"), with(plain, "enable.idempotence", true, "acks", "all"));
        same(readAll(topic, RECORDS, plain), values("i"));
    }

    static void joinsAndLeaves(String name, Map<String, Object> config) throws Exception {
        String topic = run + "-" + name;
        create(topic, 4, plain);
        Map<String, Object> all = new HashMap<>(plain);
        all.putAll(config);
        try (KafkaConsumer<String, String> one = consumer(topic, all)) {
            one.subscribe(List.of(topic));
            try (KafkaConsumer<String, String> two = consumer(topic, all)) {
                two.subscribe(List.of(topic));
                eventually(() -> {
                    one.poll(TICK);
                    two.poll(TICK);
                    return one.assignment().size() == 2 && two.assignment().size() == 2;
                }, "two partitions each");
            }
            eventually(() -> one.poll(TICK).isEmpty() && one.assignment().size() == 4, "all partitions");
            produce(topic, values("g"), plain);
            same(sorted(read(one, RECORDS)), sorted(values("g")));
        }
    }

    static void crash(String path, String protocol) throws Exception {
        String topic = run + "-crash-" + protocol;
        create(topic, 1, plain);
        produce(topic, values("c"), plain);
        // The member is a process of its own, which says nothing as it goes.
        Process child = new ProcessBuilder("java", "-cp", System.getProperty("java.class.path"), "Contract", path, topic, protocol)
            .inheritIO().start();
        try (Admin admin = Admin.create(plain)) {
            eventually(() -> {
                var offsets = admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get();
                OffsetAndMetadata found = offsets.get(new TopicPartition(topic, 0));
                return found != null && found.offset() == 20;
            }, "the member has committed");
        } finally {
            child.destroyForcibly().waitFor();
        }
        same(readAll(topic, RECORDS - 20, with(plain, "group.protocol", protocol)), values("c").subList(20, RECORDS));
    }

    static void hang(String topic, String protocol) throws Exception {
        Map<String, Object> config = with(plain, "max.poll.records", 20, "group.protocol", protocol);
        if (protocol.equals("classic")) {
            config.put("session.timeout.ms", 6000);
        }
        KafkaConsumer<String, String> consumer = consumer(topic, config);
        consumer.subscribe(List.of(topic));
        read(consumer, 20);
        consumer.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(20)));
        Thread.sleep(600_000);
    }

    static void topics() throws Exception {
        String topic = run + "-topics";
        create(topic, 2, plain);
        try (Admin admin = Admin.create(plain)) {
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(3))).all().get();
            eventually(() -> admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 3,
                "three partitions");
            admin.deleteTopics(List.of(topic)).all().get();
            eventually(() -> !admin.listTopics().names().get().contains(topic), "it is gone");
        }
    }

    static void configs() throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, run + "-configs");
        create(resource.name(), 1, plain);
        try (Admin admin = Admin.create(plain)) {
            Check changed = () -> admin.describeConfigs(List.of(resource)).all().get().get(resource)
                .get("retention.ms").value().equals("1000");
            same(changed.holds(), false);
            var change = new AlterConfigOp(new ConfigEntry("retention.ms", "1000"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
            eventually(changed, "the new value");
        }
    }

    static void groups() throws Exception {
        String topic = run + "-groups";
        create(topic, 1, plain);
        produce(topic, values("a"), plain);
        readAll(topic, RECORDS, plain);
        try (Admin admin = Admin.create(plain)) {
            Check listed = () -> admin.listConsumerGroups().all().get().stream().anyMatch(g -> g.groupId().equals(topic));
            same(listed.holds(), true);
            same(admin.describeConsumerGroups(List.of(topic)).all().get().get(topic).state(), ConsumerGroupState.EMPTY);
            var offsets = admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get();
            same(offsets.get(new TopicPartition(topic, 0)).offset(), (long) RECORDS);
            admin.deleteConsumerGroups(List.of(topic)).all().get();
            same(listed.holds(), false);
        }
    }

    static AclBinding rule(String user, String topic, AclOperation operation) {
        return new AclBinding(new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
            new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    static void acls() throws Exception {
        AclBinding made = rule("somebody", run + "-acls", AclOperation.READ);
        AclBindingFilter wanted = new AclBindingFilter(made.pattern().toFilter(), AccessControlEntryFilter.ANY);
        try (Admin admin = Admin.create(plain)) {
            admin.createAcls(List.of(made)).all().get();
            same(List.copyOf(admin.describeAcls(wanted).values().get()), List.of(made));
            same(List.copyOf(admin.deleteAcls(List.of(wanted)).all().get()), List.of(made));
            same(admin.describeAcls(wanted).values().get().isEmpty(), true);
        }
    }

    static Map<String, Object> secure(String user, String mechanism, String password) {
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        return Map.of("bootstrap.servers", settings.get("secure_bootstrap").asText(),
            "security.protocol", "SASL_SSL", "ssl.truststore.type", "PEM",
            "ssl.truststore.location", settings.get("ca").asText(), "sasl.mechanism", mechanism,
            "sasl.jaas.config", "org.apache.kafka.common.security." + module + " required username=\"" + user
                + "\" password=\"" + password + "\";");
    }

    static String password(String user) {
        return settings.get("passwords").get(user).asText();
    }

    static void sasl(String mechanism) throws Exception {
        String topic = run + "-" + mechanism;
        Map<String, Object> login = secure("admin", mechanism, password("admin"));
        create(topic, 1, login);
        produce(topic, values("s"), login);
        same(readAll(topic, RECORDS, login), values("s"));
        try {
            create(topic + "-wrong", 1, secure("admin", mechanism, "wrong"));
        } catch (ExecutionException error) {
            same(error.getCause() instanceof AuthenticationException, true);
            return;
        }
        throw new AssertionError("a wrong password was taken");
    }

    static void deniedAndAllowed() throws Exception {
        String topic = run + "-acl";
        Map<String, Object> alice = secure("alice", "SCRAM-SHA-256", password("alice"));
        create(topic, 1, plain);
        boolean denied = false;
        try {
            produce(topic, List.of("x"), alice);
        } catch (ExecutionException error) {
            denied = error.getCause() instanceof TopicAuthorizationException;
        }
        same(denied, true);
        try (Admin admin = Admin.create(plain)) {
            admin.createAcls(List.of(rule("alice", topic, AclOperation.WRITE))).all().get();
        }
        Thread.sleep(1000);
        produce(topic, List.of("x"), alice);
    }

    static void transactions() throws Exception {
        String topic = run + "-txn";
        create(topic, 1, plain);
        try (KafkaProducer<String, String> producer = producer(with(plain, "transactional.id", topic))) {
            producer.initTransactions();
            for (String label : List.of("kept", "dropped", "last")) {
                producer.beginTransaction();
                for (String item : values(label)) {
                    producer.send(new ProducerRecord<>(topic, item));
                }
                if (label.equals("dropped")) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
        List<String> expected = new ArrayList<>(values("kept"));
        expected.addAll(values("last"));
        same(readAll(topic, 2 * RECORDS, with(plain, "isolation.level", "read_committed")), expected);
    }
}

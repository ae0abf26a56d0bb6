// The contract's further cases of groups, logins, rules and transactions, by Kafka's own clients.
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.serialization.StringDeserializer;

class MoreCases {
    static final String OAUTH = "org.apache.kafka.common.security.oauthbearer.";

    static void staticMembers() throws Exception {
        String topic = Contract.run + "-static";
        Contract.create(topic, 4, Contract.plain);
        KafkaConsumer<String, String> one = member(topic, "one");
        try (KafkaConsumer<String, String> two = member(topic, "two")) {
            KafkaConsumer<String, String> first = one;
            Contract.eventually(() -> {
                first.poll(Contract.TICK);
                two.poll(Contract.TICK);
                return first.assignment().size() == 2 && two.assignment().size() == 2;
            }, "two partitions each");
            Set<TopicPartition> ofOne = one.assignment();
            Set<TopicPartition> ofTwo = two.assignment();
            int generation = two.groupMetadata().generationId();
            one.close();
            one = member(topic, "one");
            KafkaConsumer<String, String> again = one;
            Contract.eventually(() -> {
                again.poll(Contract.TICK);
                two.poll(Contract.TICK);
                return again.assignment().equals(ofOne);
            }, "its partitions are back");
            Contract.same(two.assignment(), ofTwo);
            Contract.same(two.groupMetadata().generationId(), generation);
        } finally {
            one.close();
        }
    }

    static void migration() throws Exception {
        String topic = Contract.run + "-migration";
        Contract.create(topic, 4, Contract.plain);
        Set<String> found = new HashSet<>();
        var one = speaker(topic, "classic");
        var two = speaker(topic, "classic");
        share(topic, "before", GroupType.CLASSIC, found, one, two);
        var three = speaker(topic, "consumer");
        share(topic, "begun", GroupType.CONSUMER, found, one, two, three);
        one.close();
        share(topic, "half", GroupType.CONSUMER, found, two, three);
        two.close();
        share(topic, "rolled", GroupType.CONSUMER, found, three);
        var four = speaker(topic, "classic");
        share(topic, "back", GroupType.CONSUMER, found, three, four);
        three.close();
        share(topic, "after", GroupType.CLASSIC, found, four);
        four.close();
    }

    static KafkaConsumer<String, String> speaker(String topic, String protocol) {
        Map<String, Object> config = Contract.with(Contract.plain, "group.protocol", protocol, "enable.auto.commit", true);
        if (protocol.equals("classic")) {
            config.put("session.timeout.ms", 6000);
            config.put("heartbeat.interval.ms", 500);
        }
        Map<String, Object> all = Contract.with(config, "group.id", topic, "auto.offset.reset", "earliest");
        var made = new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
        made.subscribe(List.of(topic));
        return made;
    }

    // Every partition has one reader, every member some, and all that is written is read.
    @SafeVarargs
    static void share(
            String topic, String label, GroupType type, Set<String> found, KafkaConsumer<String, String>... members)
            throws Exception {
        Contract.Check shared = () -> {
            List<TopicPartition> held = new ArrayList<>();
            boolean everyone = true;
            for (var each : members) {
                each.poll(Contract.TICK).forEach(record -> found.add(record.value()));
                everyone &= !each.assignment().isEmpty();
                held.addAll(each.assignment());
            }
            return everyone && held.size() == 4 && new HashSet<>(held).size() == 4;
        };
        Contract.eventually(shared, label + ": the partitions are shared");
        try (Admin admin = Admin.create(Contract.plain)) {
            for (var each : admin.listConsumerGroups().all().get()) {
                if (each.groupId().equals(topic)) {
                    Contract.same(each.type(), Optional.of(type));
                }
            }
        }
        Contract.produce(topic, Contract.values(label), Contract.plain);
        Contract.eventually(
            () -> shared.holds() && found.containsAll(Contract.values(label)), label + ": its records");
    }

    static KafkaConsumer<String, String> member(String topic, String instance) {
        KafkaConsumer<String, String> made = Contract.consumer(topic,
            Contract.with(Contract.plain, "group.instance.id", instance, "session.timeout.ms", 20000));
        made.subscribe(List.of(topic));
        return made;
    }

    static void transactionOffsets() throws Exception {
        String source = Contract.run + "-chain";
        String target = source + "-out";
        Contract.create(source, 1, Contract.plain);
        Contract.create(target, 1, Contract.plain);
        Contract.produce(source, Contract.values("x"), Contract.plain);
        TopicPartition partition = new TopicPartition(source, 0);
        try (var producer = Contract.producer(Contract.with(Contract.plain, "transactional.id", source));
                KafkaConsumer<String, String> reader = Contract.consumer(source, Contract.with(Contract.plain, "isolation.level", "read_committed"))) {
            producer.initTransactions();
            reader.subscribe(List.of(source));
            for (boolean commit : new boolean[] {false, true}) {
                List<String> taken = Contract.read(reader, Contract.RECORDS);
                producer.beginTransaction();
                for (String each : taken) {
                    producer.send(new ProducerRecord<>(target, each.toUpperCase(Locale.ROOT)));
                }
                producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(Contract.RECORDS)), reader.groupMetadata());
                if (commit) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                    Contract.same(reader.committed(Set.of(partition)).get(partition), null);
                    reader.seek(partition, 0);
                }
            }
            Contract.same(reader.committed(Set.of(partition)).get(partition).offset(), (long) Contract.RECORDS);
        }
        List<String> expected = Contract.values("x").stream().map(each -> each.toUpperCase(Locale.ROOT)).toList();
        Contract.same(Contract.readAll(target, Contract.RECORDS, Contract.with(Contract.plain, "isolation.level", "read_committed")), expected);
    }

    static void allow(ResourceType type, String name, AclOperation operation) throws Exception {
        var binding = new AclBinding(new ResourcePattern(type, name, PatternType.LITERAL),
            new AccessControlEntry("User:alice", "*", operation, AclPermissionType.ALLOW));
        try (Admin admin = AdminCases.admin()) {
            admin.createAcls(List.of(binding)).all().get();
        }
        Thread.sleep(1000);
    }

    static void groupRules() throws Exception {
        String topic = Contract.run + "-aclgroup";
        Map<String, Object> alice = Contract.secure("alice", "SCRAM-SHA-256", Contract.password("alice"));
        Contract.create(topic, 1, Contract.plain);
        Contract.produce(topic, Contract.values("a"), Contract.plain);
        allow(ResourceType.TOPIC, topic, AclOperation.READ);
        boolean denied = false;
        try {
            Contract.readAll(topic, Contract.RECORDS, alice);
        } catch (GroupAuthorizationException error) {
            denied = error.groupId().equals(topic);
        }
        Contract.same(denied, true);
        allow(ResourceType.GROUP, topic, AclOperation.READ);
        Contract.same(Contract.readAll(topic, Contract.RECORDS, alice), Contract.values("a"));
    }

    static void transactionalIdRules() throws Exception {
        String id = Contract.run + "-aclid";
        Map<String, Object> alice = Contract.with(
            Contract.secure("alice", "SCRAM-SHA-256", Contract.password("alice")), "transactional.id", id);
        boolean denied = false;
        try (var producer = Contract.producer(alice)) {
            producer.initTransactions();
        } catch (TransactionalIdAuthorizationException error) {
            denied = true;
        }
        Contract.same(denied, true);
        allow(ResourceType.TRANSACTIONAL_ID, id, AclOperation.WRITE);
        try (var producer = Contract.producer(alice)) {
            producer.initTransactions();
        }
    }

    /** The client takes a token from a file that a URL names. */
    static Map<String, Object> bearer(String name) throws Exception {
        java.io.File file = java.io.File.createTempFile("token", ".jwt");
        java.nio.file.Files.writeString(file.toPath(), Contract.settings.get("tokens").get(name).asText());
        return Contract.with(Contract.secure("admin", "SCRAM-SHA-256", ""), "sasl.mechanism", "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url", file.toURI().toString(),
            "sasl.login.callback.handler.class", OAUTH + "OAuthBearerLoginCallbackHandler",
            "sasl.jaas.config", OAUTH + "OAuthBearerLoginModule required;");
    }

    static void oauthbearer() throws Exception {
        String topic = Contract.run + "-oauth";
        Map<String, Object> login = bearer("admin");
        Contract.create(topic, 1, login);
        Contract.produce(topic, Contract.values("s"), login);
        Contract.same(Contract.readAll(topic, Contract.RECORDS, login), Contract.values("s"));
        Contract.same(AdminCases.logsIn(bearer("wrong")), false);
    }

    static Map<String, Object> byToken(DelegationToken token) {
        String jaas = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"" + token.tokenInfo().tokenId()
            + "\" password=\"" + token.hmacAsBase64String() + "\" tokenauth=true;";
        return Contract.with(Contract.secure("", "SCRAM-SHA-256", ""), "sasl.jaas.config", jaas);
    }

    static void delegationTokens() throws Exception {
        String topic = Contract.run + "-token";
        try (Admin admin = Admin.create(Contract.secure("admin", "SCRAM-SHA-512", Contract.password("admin")))) {
            DelegationToken token = admin.createDelegationToken(new CreateDelegationTokenOptions()
                .maxlifeTimeMs(600_000)).delegationToken().get();
            Contract.eventually(() -> AdminCases.logsIn(byToken(token)), "the token logs in");
            Contract.create(topic, 1, byToken(token));
            Contract.produce(topic, Contract.values("t"), byToken(token));
            Contract.same(Contract.readAll(topic, Contract.RECORDS, byToken(token)), Contract.values("t"));
            Contract.eventually(() -> admin.describeDelegationToken().delegationTokens().get().stream()
                .anyMatch(each -> each.tokenInfo().tokenId().equals(token.tokenInfo().tokenId())), "it is described");
            long now = System.currentTimeMillis();
            long until = admin.renewDelegationToken(token.hmac(), new RenewDelegationTokenOptions().renewTimePeriodMs(60_000))
                .expiryTimestamp().get();
            Contract.same(until > now && until < now + 90_000, true);
            admin.expireDelegationToken(token.hmac(), new ExpireDelegationTokenOptions().expiryTimePeriodMs(-1)).expiryTimestamp().get();
            Contract.eventually(() -> !AdminCases.logsIn(byToken(token)), "it is refused");
        }
    }
}

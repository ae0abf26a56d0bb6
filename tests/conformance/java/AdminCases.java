// The contract's cases of the administrator, by Kafka's own Admin.
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.quota.*;

class AdminCases {
    static Admin admin() {
        return Admin.create(Contract.plain);
    }

    static TopicPartition topic(String name, int partitions) throws Exception {
        TopicPartition first = new TopicPartition(Contract.run + "-" + name, 0);
        Contract.create(first.topic(), partitions, Contract.plain);
        return first;
    }

    static void records() throws Exception {
        TopicPartition partition = topic("records", 1);
        Contract.produce(partition.topic(), Contract.values("r"), Contract.plain);
        try (Admin admin = admin()) {
            var deleted = admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(20)));
            Contract.same(deleted.lowWatermarks().get(partition).get().lowWatermark(), 20L);
            Contract.same(admin.listOffsets(Map.of(partition, OffsetSpec.earliest())).partitionResult(partition).get().offset(), 20L);
            Contract.same(admin.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition).get().offset(),
                (long) Contract.RECORDS);
            Contract.same(admin.listOffsets(Map.of(partition, OffsetSpec.maxTimestamp())).partitionResult(partition).get().offset() >= 20, true);
        }
        Contract.same(Contract.readAll(partition.topic(), Contract.RECORDS - 20, Contract.plain),
            Contract.values("r").subList(20, Contract.RECORDS));
    }

    static TopicPartitionInfo described(Admin admin, TopicPartition partition) throws Exception {
        return admin.describeTopics(List.of(partition.topic())).allTopicNames().get().get(partition.topic()).partitions().get(0);
    }

    static List<Integer> replicas(Admin admin, TopicPartition partition) throws Exception {
        return described(admin, partition).replicas().stream().map(Node::id).toList();
    }

    static void move(Admin admin, TopicPartition partition, List<Integer> wanted) throws Exception {
        admin.alterPartitionReassignments(Map.of(partition, Optional.of(new NewPartitionReassignment(wanted)))).all().get();
        Contract.eventually(() -> admin.listPartitionReassignments().reassignments().get().get(partition) == null
            && replicas(admin, partition).equals(wanted), "the replicas are " + wanted);
    }

    static void reassign() throws Exception {
        TopicPartition partition = topic("reassign", 1);
        Contract.produce(partition.topic(), Contract.values("m"), Contract.plain);
        try (Admin admin = admin()) {
            List<Integer> before = replicas(admin, partition);
            move(admin, partition, before.subList(0, 2));
            move(admin, partition, List.of(before.get(2), before.get(0), before.get(1)));
        }
        Contract.same(Contract.readAll(partition.topic(), Contract.RECORDS, Contract.plain), Contract.values("m"));
    }

    static void elect() throws Exception {
        TopicPartition partition = topic("elect", 1);
        try (Admin admin = admin()) {
            List<Integer> before = replicas(admin, partition);
            move(admin, partition, List.of(before.get(1), before.get(2), before.get(0)));
            admin.electLeaders(ElectionType.PREFERRED, Set.of(partition)).partitions().get();
            Contract.eventually(() -> described(admin, partition).leader().id() == before.get(1), "the preferred leader leads");
        }
    }

    static void logDirs() throws Exception {
        TopicPartition partition = topic("logdirs", 1);
        Contract.produce(partition.topic(), Contract.values("l"), Contract.plain);
        try (Admin admin = admin()) {
            Contract.eventually(() -> {
                var all = admin.describeLogDirs(List.of(0, 1, 2)).allDescriptions().get();
                return all.values().stream().flatMap(dirs -> dirs.values().stream())
                    .filter(dir -> dir.replicaInfos().containsKey(partition) && dir.replicaInfos().get(partition).size() > 0
                        && dir.totalBytes().isPresent()).count() == 3;
            }, "three replicas with bytes");
            var replica = new TopicPartitionReplica(partition.topic(), 0, 0);
            Contract.same(admin.describeReplicaLogDirs(List.of(replica)).all().get().get(replica).getCurrentReplicaOffsetLag(), 0L);
        }
    }

    static void quotas() throws Exception {
        var entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, Contract.run, ClientQuotaEntity.CLIENT_ID, "c"));
        var wanted = ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofEntity(ClientQuotaEntity.USER, Contract.run)));
        try (Admin admin = admin()) {
            set(admin, entity, 12345.0);
            Contract.eventually(() -> Map.of("producer_byte_rate", 12345.0)
                .equals(admin.describeClientQuotas(wanted).entities().get().get(entity)), "the quota");
            set(admin, entity, null);
            Contract.eventually(() -> admin.describeClientQuotas(wanted).entities().get().isEmpty(), "it is gone");
        }
    }

    static void set(Admin admin, ClientQuotaEntity entity, Double value) throws Exception {
        var op = new ClientQuotaAlteration.Op("producer_byte_rate", value);
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(op)))).all().get();
    }

    static void scram() throws Exception {
        String user = Contract.run + "-user";
        try (Admin admin = admin()) {
            var info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(user, info, "pass-1"))).all().get();
            Contract.eventually(() -> admin.describeUserScramCredentials().all().get().containsKey(user), "the user");
            Contract.same(admin.describeUserScramCredentials(List.of(user)).description(user).get().credentialInfos(), List.of(info));
            Map<String, Object> login = Contract.secure(user, "SCRAM-SHA-256", "pass-1");
            Contract.eventually(() -> logsIn(login), "the user logs in");
            admin.alterUserScramCredentials(List.of(new UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_256))).all().get();
            Contract.eventually(() -> !logsIn(login), "the user is refused");
        }
    }

    static boolean logsIn(Map<String, Object> login) throws Exception {
        try (Admin admin = Admin.create(login)) {
            admin.describeCluster().nodes().get();
            return true;
        } catch (java.util.concurrent.ExecutionException error) {
            Contract.same(error.getCause() instanceof AuthenticationException, true);
            return false;
        }
    }

    static void offsets() throws Exception {
        TopicPartition partition = topic("offsets", 1);
        String group = partition.topic();
        Contract.produce(group, Contract.values("o"), Contract.plain);
        Contract.readAll(group, Contract.RECORDS, Contract.plain);
        try (Admin admin = admin()) {
            admin.alterConsumerGroupOffsets(group, Map.of(partition, new OffsetAndMetadata(10))).all().get();
            Contract.same(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(partition).offset(), 10L);
            Contract.same(Contract.readAll(group, Contract.RECORDS - 10, Contract.plain).get(0), "o-10");
            admin.deleteConsumerGroupOffsets(group, Set.of(partition)).all().get();
            Contract.same(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(partition), null);
            try (KafkaConsumer<String, String> member = Contract.consumer(group, Contract.plain)) {
                member.subscribe(List.of(group));
                Contract.read(member, Contract.RECORDS);
                admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all().get();
                Contract.eventually(() -> admin.describeConsumerGroups(List.of(group)).all().get().get(group).members().isEmpty(),
                    "the member is removed");
            }
        }
    }

    static void transactions() throws Exception {
        TopicPartition partition = topic("hanging", 1);
        String id = partition.topic();
        try (Admin admin = admin(); var producer = Contract.producer(Contract.with(Contract.plain, "transactional.id", id))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(id, "lost")).get();
            var listed = admin.listTransactions(new ListTransactionsOptions().filterStates(List.of(TransactionState.ONGOING)));
            Contract.same(listed.all().get().stream().anyMatch(each -> each.transactionalId().equals(id)), true);
            var described = admin.describeTransactions(List.of(id)).description(id).get();
            Contract.same(described.state(), TransactionState.ONGOING);
            Contract.same(described.topicPartitions(), Set.of(partition));
            var state = admin.describeProducers(List.of(partition)).partitionResult(partition).get().activeProducers().get(0);
            Contract.same(state.producerId(), described.producerId());
            Contract.same(state.currentTransactionStartOffset(), OptionalLong.of(0));
            admin.abortTransaction(new AbortTransactionSpec(partition, state.producerId(), (short) state.producerEpoch(),
                state.coordinatorEpoch().orElse(0))).all().get();
            Contract.same(admin.describeProducers(List.of(partition)).partitionResult(partition).get().activeProducers().get(0)
                .currentTransactionStartOffset(), OptionalLong.empty());
            Contract.produce(id, List.of("after"), Contract.plain);
            Contract.same(Contract.readAll(id, 1, Contract.with(Contract.plain, "isolation.level", "read_committed")), List.of("after"));
            admin.fenceProducers(List.of(id)).all().get();
        }
    }

    static void cluster() throws Exception {
        try (Admin admin = admin()) {
            var found = admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true));
            Contract.same(found.nodes().get().size(), 3);
            Contract.same(found.nodes().get().contains(found.controller().get()), true);
            Contract.same(found.authorizedOperations().get().isEmpty(), false);
            Contract.same(found.clusterId().get().length(), 22);
            admin.describeFeatures().featureMetadata().get();
        }
    }
}

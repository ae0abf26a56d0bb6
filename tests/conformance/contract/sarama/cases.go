// The contract's cases of producers, groups, logins, rules and transactions.
package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

var cases = []struct {
	name string
	body func()
}{
	{"produce.none", func() { produceWith("none", sarama.CompressionNone) }},
	{"produce.gzip", func() { produceWith("gzip", sarama.CompressionGZIP) }},
	{"produce.snappy", func() { produceWith("snappy", sarama.CompressionSnappy) }},
	{"produce.lz4", func() { produceWith("lz4", sarama.CompressionLZ4) }},
	{"produce.zstd", func() { produceWith("zstd", sarama.CompressionZSTD) }},
	{"produce.idempotent", idempotent},
	{"group.join_leave", joinsAndLeaves},
	{"group.crash", crash},
	{"group.static", staticMembers},
	{"admin.topics", topics},
	{"admin.configs", configs},
	{"admin.groups", groups},
	{"admin.offsets", groupOffsets},
	{"admin.acls", acls},
	{"admin.records", deleteRecords},
	{"admin.reassign", reassign},
	{"admin.elect", elect},
	{"admin.log_dirs", logDirs},
	{"admin.quotas", quotas},
	{"admin.scram", scramUsers},
	{"admin.cluster", describeCluster},
	{"sasl.plain", func() { logInBy(sarama.SASLTypePlaintext, settings.Passwords["admin"], "wrong") }},
	{"sasl.scram256", func() { logInBy(sarama.SASLTypeSCRAMSHA256, settings.Passwords["admin"], "wrong") }},
	{"sasl.scram512", func() { logInBy(sarama.SASLTypeSCRAMSHA512, settings.Passwords["admin"], "wrong") }},
	{"sasl.oauthbearer", func() { logInBy(sarama.SASLTypeOAuth, settings.Tokens["admin"], settings.Tokens["wrong"]) }},
	{"acl.denied_allowed", deniedAndAllowed},
	{"acl.groups", groupRules},
	{"acl.transactional_ids", transactionalIDRules},
	{"txn.commit_abort", transactions},
	{"txn.offsets", transactionOffsets},
}

func produceWith(name string, codec sarama.CompressionCodec) {
	topic := settings.Run + "-" + name
	create(topic, 2, plain(none))
	var expected []string
	for label, acks := range map[string]sarama.RequiredAcks{
		"none": sarama.NoResponse, "leader": sarama.WaitForLocal, "all": sarama.WaitForAll,
	} {
		must(produce(topic, values(label), plain(func(config *sarama.Config) {
			config.Producer.Compression, config.Producer.RequiredAcks = codec, acks
		})))
		expected = append(expected, values(label)...)
	}
	same(readAll(topic, 3*records, plain(none)), expected, true)
}

func idempotentConfig(config *sarama.Config) {
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
}

func idempotent() {
	topic := settings.Run + "-idempotent"
	create(topic, 1, plain(none))
	must(produce(topic, values("i"), plain(idempotentConfig)))
	same(readAll(topic, records, plain(none)), values("i"), false)
}

func shares(one, two *member) (ofOne, ofTwo []int32) {
	eventually(func() bool {
		_, ofOne, _, _ = one.has()
		_, ofTwo, _, _ = two.has()
		return len(ofOne) == 2 && len(ofTwo) == 2
	}, "two partitions each")
	return ofOne, ofTwo
}

func joinsAndLeaves() {
	topic := settings.Run + "-group"
	create(topic, 4, plain(none))
	one, two := join(topic, plain(none)), join(topic, plain(none))
	shares(one, two)
	two.leave()
	eventually(func() bool { _, claims, _, _ := one.has(); return len(claims) == 4 }, "all partitions")
	must(produce(topic, values("g"), plain(none)))
	same(one.read(records), values("g"), true)
	one.leave()
}

func crash() {
	topic := settings.Run + "-crash"
	create(topic, 1, plain(none))
	must(produce(topic, values("c"), plain(none)))
	program, err := os.Executable()
	must(err)
	child := exec.Command(program, os.Args[1], topic)
	must(child.Start())
	found := admin(plain(none))
	defer found.Close()
	eventually(func() bool { return committed(found, topic) == 20 }, "the member has committed")
	must(child.Process.Kill())
	_ = child.Wait()
	same(readAll(topic, records-20, plain(none)), values("c")[20:], false)
}

func committed(found sarama.ClusterAdmin, topic string) int64 {
	offsets, err := found.ListConsumerGroupOffsets(topic, map[string][]int32{topic: {0}})
	must(err)
	return offsets.GetBlock(topic, 0).Offset
}

// A member that commits after 20 records and then says nothing any more.
func hang(topic string) {
	reader := join(topic, plain(none))
	reader.read(20)
	reader.session.MarkOffset(topic, 0, 20, "")
	reader.session.ResetOffset(topic, 0, 20, "")
	reader.session.Commit()
	time.Sleep(10 * time.Minute)
}

func staticMembers() {
	topic := settings.Run + "-static"
	create(topic, 4, plain(none))
	static := func(instance string) *member {
		return join(topic, plain(func(config *sarama.Config) {
			config.Consumer.Group.InstanceId = instance
			config.Consumer.Group.Session.Timeout = 20 * time.Second
		}))
	}
	one, two := static("one"), static("two")
	ofOne, ofTwo := shares(one, two)
	_, _, before, _ := two.has()
	one.leave()
	one = static("one")
	eventually(func() bool { _, claims, _, _ := one.has(); return slices.Equal(claims, ofOne) }, "its partitions are back")
	_, claims, changes, _ := two.has()
	check(slices.Equal(claims, ofTwo) && changes == before, "the other rebalanced: %v", claims)
	one.leave()
	two.leave()
}

func logInBy(mechanism, secret, wrong string) {
	topic := settings.Run + "-" + mechanism
	good := secure("admin", mechanism, secret)
	create(topic, 1, good)
	must(produce(topic, values("s"), good))
	same(readAll(topic, records, good), values("s"), false)
	check(!logsIn(secure("admin", mechanism, wrong)), "a wrong secret was taken")
}

// logsIn says whether the broker takes the login; any other answer than that it does not fails.
func logsIn(as login) bool {
	brokers, config := as.brokers, as.config()
	broker := sarama.NewBroker(brokers[0])
	must(broker.Open(config))
	defer broker.Close()
	_, err := broker.Connected()
	check(err == nil || errors.Is(err, sarama.ErrSASLAuthenticationFailed), "it was not a refusal: %v", err)
	return err == nil
}

func allow(kind sarama.AclResourceType, name string, operation sarama.AclOperation) {
	found := admin(plain(none))
	defer found.Close()
	must(found.CreateACL(resource(kind, name), rule("alice", operation)))
	time.Sleep(time.Second)
}

func resource(kind sarama.AclResourceType, name string) sarama.Resource {
	return sarama.Resource{ResourceType: kind, ResourceName: name, ResourcePatternType: sarama.AclPatternLiteral}
}

func rule(user string, operation sarama.AclOperation) sarama.Acl {
	return sarama.Acl{Principal: "User:" + user, Host: "*", Operation: operation, PermissionType: sarama.AclPermissionAllow}
}

func deniedAndAllowed() {
	topic := settings.Run + "-acl"
	create(topic, 1, plain(none))
	err := produce(topic, []string{"x"}, alice())
	check(errors.Is(err, sarama.ErrTopicAuthorizationFailed), "it was not denied: %v", err)
	allow(sarama.AclResourceTopic, topic, sarama.AclOperationWrite)
	must(produce(topic, []string{"x"}, alice()))
}

func groupRules() {
	topic := settings.Run + "-aclgroup"
	create(topic, 1, plain(none))
	must(produce(topic, values("a"), plain(none)))
	allow(sarama.AclResourceTopic, topic, sarama.AclOperationRead)
	reader := join(topic, alice())
	var refused error
	eventually(func() bool { _, _, _, refused = reader.has(); return refused != nil }, "an answer")
	reader.ended()
	_ = reader.group.Close()
	check(errors.Is(refused, sarama.ErrGroupAuthorizationFailed), "it was not denied: %v", refused)
	allow(sarama.AclResourceGroup, topic, sarama.AclOperationRead)
	same(readAll(topic, records, alice()), values("a"), false)
}

func transactional(id string) func(*sarama.Config) {
	return func(config *sarama.Config) {
		idempotentConfig(config)
		config.Producer.Transaction.ID = id
	}
}

func readCommitted(config *sarama.Config) { config.Consumer.IsolationLevel = sarama.ReadCommitted }

func transactionalIDRules() {
	id := settings.Run + "-aclid"
	begin := func() error {
		as := alice().with(transactional(id))
		producer, err := sarama.NewSyncProducer(as.brokers, as.config())
		if err == nil {
			err = producer.Close()
		}
		return err
	}
	err := begin()
	check(errors.Is(err, sarama.ErrTransactionalIDAuthorizationFailed), "it was not denied: %v", err)
	allow(sarama.AclResourceTransactionalID, id, sarama.AclOperationWrite)
	must(begin())
}

func send(producer sarama.SyncProducer, topic string, items []string) {
	for _, item := range items {
		_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(item)})
		must(err)
	}
}

func transactions() {
	topic := settings.Run + "-txn"
	create(topic, 1, plain(none))
	as := plain(transactional(topic))
	producer, err := sarama.NewSyncProducer(as.brokers, as.config())
	must(err)
	for _, label := range []string{"kept", "dropped", "last"} {
		must(producer.BeginTxn())
		send(producer, topic, values(label))
		if label == "dropped" {
			must(producer.AbortTxn())
		} else {
			must(producer.CommitTxn())
		}
	}
	must(producer.Close())
	same(readAll(topic, 2*records, plain(readCommitted)), append(values("kept"), values("last")...), false)
}

func transactionOffsets() {
	source := settings.Run + "-chain"
	target := source + "-out"
	create(source, 1, plain(none))
	create(target, 1, plain(none))
	must(produce(source, values("x"), plain(none)))
	as := plain(transactional(source))
	producer, err := sarama.NewSyncProducer(as.brokers, as.config())
	must(err)
	found := admin(plain(none))
	defer found.Close()
	var expected []string
	for _, commit := range []bool{false, true} {
		reader := join(source, plain(readCommitted))
		taken := reader.read(records)
		expected = nil
		for _, each := range taken {
			expected = append(expected, strings.ToUpper(each))
		}
		must(producer.BeginTxn())
		send(producer, target, expected)
		offsets := map[string][]*sarama.PartitionOffsetMetadata{source: {{Partition: 0, Offset: records}}}
		must(producer.AddOffsetsToTxn(offsets, source))
		if commit {
			must(producer.CommitTxn())
			eventually(func() bool { return committed(found, source) == records }, "the offset is committed")
		} else {
			must(producer.AbortTxn())
			check(committed(found, source) == -1, "offset %d after an abort", committed(found, source))
		}
		reader.leave()
	}
	must(producer.Close())
	same(readAll(target, records, plain(readCommitted)), expected, false)
}

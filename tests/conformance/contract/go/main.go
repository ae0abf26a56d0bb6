// The contract of tests/conformance/contract by franz-go: go run . <settings.json>
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const records = 60

var settings struct {
	Bootstrap       string            `json:"bootstrap"`
	SecureBootstrap string            `json:"secure_bootstrap"`
	CA              string            `json:"ca"`
	Run             string            `json:"run"`
	Passwords       map[string]string `json:"passwords"`
	Tokens          map[string]string `json:"tokens"`
	Skip            map[string]string `json:"skip"`
	Only            []string          `json:"only"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, what string, arguments ...any) {
	if !holds {
		panic(fmt.Errorf(what, arguments...))
	}
}

func within(seconds int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
}

func eventually(holds func() bool, what string) {
	for ends := time.Now().Add(30 * time.Second); time.Now().Before(ends); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return
		}
	}
	panic(fmt.Errorf("not within 30 s: %s", what))
}

func values(label string) []string {
	found := make([]string, records)
	for n := range found {
		found[n] = fmt.Sprintf("%s-%d", label, n)
	}
	return found
}

func client(options ...kgo.Opt) *kgo.Client {
	seeds := kgo.SeedBrokers(strings.Split(settings.Bootstrap, ",")...)
	found, err := kgo.NewClient(append([]kgo.Opt{seeds, kgo.MetadataMinAge(100 * time.Millisecond)}, options...)...)
	must(err)
	return found
}

func secure(user, password string, mechanism func(user, password string) sasl.Mechanism) []kgo.Opt {
	pem, err := os.ReadFile(settings.CA)
	must(err)
	roots := x509.NewCertPool()
	check(roots.AppendCertsFromPEM(pem), "no certificate in %s", settings.CA)
	return []kgo.Opt{
		kgo.SeedBrokers(strings.Split(settings.SecureBootstrap, ",")...),
		kgo.DialTLSConfig(&tls.Config{RootCAs: roots}),
		kgo.SASL(mechanism(user, password)),
	}
}

func create(topic string, partitions int32, options ...kgo.Opt) error {
	admin := kadm.NewClient(client(options...))
	defer admin.Close()
	ctx, cancel := within(20)
	defer cancel()
	_, err := admin.CreateTopic(ctx, partitions, 3, nil, topic)
	return err
}

func produce(topic string, items []string, options ...kgo.Opt) error {
	producer := client(append([]kgo.Opt{kgo.RecordDeliveryTimeout(10 * time.Second)}, options...)...)
	defer producer.Close()
	ctx, cancel := within(20)
	defer cancel()
	var batch []*kgo.Record
	for _, item := range items {
		batch = append(batch, &kgo.Record{Topic: topic, Value: []byte(item)})
	}
	return producer.ProduceSync(ctx, batch...).FirstErr()
}

func member(topic string, options ...kgo.Opt) *kgo.Client {
	return client(append([]kgo.Opt{
		kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(500 * time.Millisecond),
	}, options...)...)
}

func poll(reader *kgo.Client) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var found []string
	reader.PollFetches(ctx).EachRecord(func(record *kgo.Record) { found = append(found, string(record.Value)) })
	return found
}

func read(reader *kgo.Client, count int) []string {
	var found []string
	eventually(func() bool { found = append(found, poll(reader)...); return len(found) >= count }, "the records")
	return found
}

func readAll(topic string, count int, options ...kgo.Opt) []string {
	reader := member(topic, options...)
	defer reader.Close()
	found := read(reader, count)
	ctx, cancel := within(20)
	defer cancel()
	must(reader.CommitUncommittedOffsets(ctx))
	return found
}

func same(found, expected []string, sorted bool) {
	if sorted {
		slices.Sort(found)
		slices.Sort(expected)
	}
	check(slices.Equal(found, expected), "%v is not %v", found, expected)
}

func produceWith(name string, codec kgo.CompressionCodec) {
	topic := settings.Run + "-" + name
	must(create(topic, 2))
	var expected []string
	for label, acks := range map[string]kgo.Acks{"none": kgo.NoAck(), "leader": kgo.LeaderAck(), "all": kgo.AllISRAcks()} {
		must(produce(topic, values(label), kgo.ProducerBatchCompression(codec), kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite()))
		expected = append(expected, values(label)...)
	}
	same(readAll(topic, 3*records), expected, true)
}

func joinsAndLeaves(name string, options ...kgo.Opt) {
	topic := settings.Run + "-" + name
	must(create(topic, 4))
	assigned := func(into *int) []kgo.Opt {
		change := func(sign int) func(context.Context, *kgo.Client, map[string][]int32) {
			return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
				*into += sign * len(partitions[topic])
			}
		}
		return append(options, kgo.OnPartitionsAssigned(change(1)), kgo.OnPartitionsRevoked(change(-1)),
			kgo.OnPartitionsLost(change(-1)))
	}
	var ofOne, ofTwo int
	one, two := member(topic, assigned(&ofOne)...), member(topic, assigned(&ofTwo)...)
	eventually(func() bool { poll(one); poll(two); return ofOne == 2 && ofTwo == 2 }, "two partitions each")
	two.Close()
	eventually(func() bool { poll(one); return ofOne == 4 }, "all partitions")
	must(produce(topic, values("g")))
	same(read(one, records), values("g"), true)
	one.Close()
}

func of(protocol string) []kgo.Opt {
	if protocol == "consumer" {
		return []kgo.Opt{kgo.ServerSideBalancer()}
	}
	return nil
}

func crash(path, protocol string) {
	topic := settings.Run + "-crash-" + protocol
	must(create(topic, 1))
	must(produce(topic, values("c")))
	program, err := os.Executable()
	must(err)
	child := exec.Command(program, path, topic, protocol)
	must(child.Start())
	admin := kadm.NewClient(client())
	defer admin.Close()
	eventually(func() bool {
		ctx, cancel := within(10)
		defer cancel()
		offsets, err := admin.FetchOffsets(ctx, topic)
		offset, known := offsets.Lookup(topic, 0)
		return err == nil && known && offset.At == 20
	}, "the member has committed")
	must(child.Process.Kill())
	_ = child.Wait()
	same(readAll(topic, records-20, of(protocol)...), values("c")[20:], false)
}

// A member that commits after 20 records and then says nothing any more.
func hang(topic, protocol string) {
	reader := member(topic, of(protocol)...)
	read(reader, 20)
	ctx, cancel := within(20)
	defer cancel()
	offset := map[string]map[int32]kgo.EpochOffset{topic: {0: {Epoch: -1, Offset: 20}}}
	reader.CommitOffsetsSync(ctx, offset, nil)
	time.Sleep(10 * time.Minute)
}

func topics() {
	topic := settings.Run + "-topics"
	must(create(topic, 2))
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(40)
	defer cancel()
	grown, err := admin.UpdatePartitions(ctx, 3, topic)
	must(err)
	must(grown.Error())
	eventually(func() bool {
		found, err := admin.ListTopics(ctx, topic)
		return err == nil && len(found[topic].Partitions) == 3
	}, "three partitions")
	deleted, err := admin.DeleteTopics(ctx, topic)
	must(err)
	must(deleted.Error())
	eventually(func() bool { found, err := admin.ListTopics(ctx); return err == nil && !found.Has(topic) }, "it is gone")
}

func configs() {
	topic := settings.Run + "-configs"
	must(create(topic, 1))
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(40)
	defer cancel()
	retention := func() string {
		found, err := admin.DescribeTopicConfigs(ctx, topic)
		must(err)
		for _, each := range found[0].Configs {
			if each.Key == "retention.ms" {
				return each.MaybeValue()
			}
		}
		return ""
	}
	check(retention() == "604800000", "retention is %s", retention())
	value := "1000"
	changed, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &value}}, topic)
	must(err)
	must(changed[0].Err)
	eventually(func() bool { return retention() == value }, "the new value")
}

func groups() {
	topic := settings.Run + "-groups"
	must(create(topic, 1))
	must(produce(topic, values("a")))
	readAll(topic, records)
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(40)
	defer cancel()
	listed, err := admin.ListGroups(ctx)
	must(err)
	check(slices.Contains(listed.Groups(), topic), "%s is not listed", topic)
	described, err := admin.DescribeGroups(ctx, topic)
	must(err)
	check(described[topic].State == "Empty", "state %s", described[topic].State)
	offsets, err := admin.FetchOffsets(ctx, topic)
	must(err)
	offset, _ := offsets.Lookup(topic, 0)
	check(offset.At == records, "offset %d", offset.At)
	deleted, err := admin.DeleteGroups(ctx, topic)
	must(err)
	must(deleted.Error())
}

func rule(user, topic string, operation kmsg.ACLOperation) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).
		Allow("User:" + user).AllowHosts("*").Operations(operation)
}

func acls() {
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(20)
	defer cancel()
	made := rule("somebody", settings.Run+"-acls", kmsg.ACLOperationRead)
	created, err := admin.CreateACLs(ctx, made)
	must(err)
	must(created[0].Err)
	eventually(func() bool { // another broker may be asked than the one that knows it already
		found, err := admin.DescribeACLs(ctx, made)
		must(err)
		return slices.ContainsFunc(found, func(each kadm.DescribeACLsResult) bool { return len(each.Described) == 1 })
	}, "the rule is described")
	deleted, err := admin.DeleteACLs(ctx, made)
	must(err)
	gone := slices.ContainsFunc(deleted, func(each kadm.DeleteACLsResult) bool { return len(each.Deleted) == 1 })
	check(gone, "the rule was not deleted: %v", deleted)
}

func byPlain(user, password string) sasl.Mechanism {
	return plain.Auth{User: user, Pass: password}.AsMechanism()
}

func by256(user, password string) sasl.Mechanism {
	return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
}

func by512(user, password string) sasl.Mechanism {
	return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
}

func login(name string, mechanism func(user, password string) sasl.Mechanism) {
	topic := settings.Run + "-" + name
	good := secure("admin", settings.Passwords["admin"], mechanism)
	must(create(topic, 1, good...))
	must(produce(topic, values("s"), good...))
	same(readAll(topic, records, good...), values("s"), false)
	err := create(topic+"-wrong", 1, secure("admin", "wrong", mechanism)...)
	check(errors.Is(err, kerr.SaslAuthenticationFailed), "a wrong password: %v", err)
}

func deniedAndAllowed() {
	topic := settings.Run + "-acl"
	must(create(topic, 1))
	alice := append(secure("alice", settings.Passwords["alice"], by256), kgo.UnknownTopicRetries(1))
	err := produce(topic, []string{"x"}, alice...)
	check(errors.Is(err, kerr.TopicAuthorizationFailed), "it was not denied: %v", err)
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(20)
	defer cancel()
	_, err = admin.CreateACLs(ctx, rule("alice", topic, kmsg.ACLOperationWrite))
	must(err)
	time.Sleep(time.Second)
	must(produce(topic, []string{"x"}, alice...))
}

func transactions() {
	topic := settings.Run + "-txn"
	must(create(topic, 1))
	producer := client(kgo.TransactionalID(topic))
	ctx, cancel := within(60)
	defer cancel()
	for _, label := range []string{"kept", "dropped", "last"} {
		must(producer.BeginTransaction())
		for _, item := range values(label) {
			producer.Produce(ctx, &kgo.Record{Topic: topic, Value: []byte(item)}, nil)
		}
		must(producer.Flush(ctx))
		must(producer.EndTransaction(ctx, kgo.TransactionEndTry(label != "dropped")))
	}
	producer.Close()
	found := readAll(topic, 2*records, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	same(found, append(values("kept"), values("last")...), false)
}

func judge(name string, body func()) {
	began := time.Now()
	status, detail := "passed", ""
	func() {
		defer func() {
			if failure := recover(); failure != nil {
				status, detail = "failed", fmt.Sprint(failure)
				fmt.Fprintln(os.Stderr, name, failure, string(debug.Stack()))
			}
		}()
		body()
	}()
	say(map[string]any{
		"case": name, "status": status, "detail": detail[:min(300, len(detail))], "ms": time.Since(began).Milliseconds(),
	})
}

func say(line map[string]any) {
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, module := range info.Deps {
			if module.Path == "github.com/twmb/franz-go" {
				return module.Version
			}
		}
	}
	return "unknown"
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	must(json.Unmarshal(text, &settings))
	if len(os.Args) > 3 {
		hang(os.Args[2], os.Args[3])
	}
	say(map[string]any{"version": version()})
	type entry struct {
		name string
		body func()
	}
	cases := []entry{
		{"produce.none", func() { produceWith("none", kgo.NoCompression()) }},
		{"produce.gzip", func() { produceWith("gzip", kgo.GzipCompression()) }},
		{"produce.snappy", func() { produceWith("snappy", kgo.SnappyCompression()) }},
		{"produce.lz4", func() { produceWith("lz4", kgo.Lz4Compression()) }},
		{"produce.zstd", func() { produceWith("zstd", kgo.ZstdCompression()) }},
		{"produce.idempotent", func() {
			topic := settings.Run + "-idempotent"
			must(create(topic, 1))
			must(produce(topic, values("i")))
			same(readAll(topic, records), values("i"), false)
		}},
		{"group.join_leave", func() { joinsAndLeaves("group") }},
		{"group.crash", func() { crash(os.Args[1], "classic") }},
		{"group.consumer_protocol", func() { joinsAndLeaves("new", kgo.ServerSideBalancer()) }},
		{"group.consumer_crash", func() { crash(os.Args[1], "consumer") }},
		{"group.migration", migration},
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
		{"admin.transactions", abortTransaction},
		{"admin.cluster", describeCluster},
		{"sasl.plain", func() { login("plain", byPlain) }},
		{"sasl.scram256", func() { login("scram256", by256) }},
		{"sasl.scram512", func() { login("scram512", by512) }},
		{"sasl.oauthbearer", oauthbearer},
		{"sasl.token", delegationTokens},
		{"acl.denied_allowed", deniedAndAllowed},
		{"acl.groups", groupRules},
		{"acl.transactional_ids", transactionalIDRules},
		{"txn.commit_abort", transactions},
		{"txn.offsets", transactionOffsets},
	}
	for _, each := range cases {
		if _, skipped := settings.Skip[each.name]; skipped {
			continue
		}
		if len(settings.Only) > 0 && !slices.Contains(settings.Only, each.name) {
			continue
		}
		judge(each.name, each.body)
	}
	say(map[string]any{"done": true})
}

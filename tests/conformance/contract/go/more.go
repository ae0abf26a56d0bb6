// The contract's further cases of groups, logins, rules and transactions.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func encoded(secret []byte) string { return base64.StdEncoding.EncodeToString(secret) }

func byToken(id, secret string) sasl.Mechanism {
	return scram.Auth{User: id, Pass: secret, IsToken: true}.AsSha256Mechanism()
}

func byBearer(_, token string) sasl.Mechanism { return oauth.Auth{Token: token}.AsMechanism() }

func oauthbearer() {
	topic := settings.Run + "-oauth"
	good := secure("", settings.Tokens["admin"], byBearer)
	must(create(topic, 1, good...))
	must(produce(topic, values("s"), good...))
	same(readAll(topic, records, good...), values("s"), false)
	// The client ends at the broker's first answer, which says why, and does not wait for its error.
	err := create(topic+"-wrong", 1, secure("", settings.Tokens["wrong"], byBearer)...)
	check(err != nil && strings.Contains(err.Error(), "oauth"), "a token for another service: %v", err)
}

// speaker is a member of a group that is rolled from one protocol to the other, and what it has.
type speaker struct {
	*kgo.Client
	has *int
}

func speaks(protocol, topic string) speaker {
	has := 0
	change := func(sign int) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			has += sign * len(partitions[topic])
		}
	}
	made := client(append([]kgo.Opt{
		kgo.ConsumerGroup(topic), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(change(1)), kgo.OnPartitionsRevoked(change(-1)), kgo.OnPartitionsLost(change(-1)),
	}, of(protocol)...)...)
	return speaker{made, &has}
}

// protocolOf asks every broker: the administrator's part of the client does not say it.
func protocolOf(group string) string {
	asker := client()
	defer asker.Close()
	ctx, cancel := within(10)
	defer cancel()
	found := ""
	for _, shard := range asker.RequestSharded(ctx, kmsg.NewPtrListGroupsRequest()) {
		must(shard.Err)
		for _, each := range shard.Resp.(*kmsg.ListGroupsResponse).Groups {
			if each.Group == group {
				found = each.GroupType
			}
		}
	}
	return found
}

func migration() {
	topic := settings.Run + "-migration"
	must(create(topic, 4))
	found := map[string]bool{}
	// Every partition has one reader, every member some, and all that is written is read.
	share := func(label, protocol string, members ...speaker) {
		shared := func() bool {
			sum, everyone := 0, true
			for _, each := range members {
				for _, value := range poll(each.Client) {
					found[value] = true
				}
				sum, everyone = sum+*each.has, everyone && *each.has > 0
			}
			return everyone && sum == 4
		}
		eventually(shared, label+": the partitions are shared")
		check(protocolOf(topic) == protocol, "%s: %s is not %s", label, protocolOf(topic), protocol)
		must(produce(topic, values(label)))
		eventually(func() bool {
			whole := shared()
			for _, value := range values(label) {
				whole = whole && found[value]
			}
			return whole
		}, label+": its records")
	}
	one, two := speaks("classic", topic), speaks("classic", topic)
	share("before", "classic", one, two)
	three := speaks("consumer", topic)
	share("begun", "consumer", one, two, three)
	one.Close()
	share("half", "consumer", two, three)
	two.Close()
	share("rolled", "consumer", three)
	four := speaks("classic", topic)
	share("back", "consumer", three, four)
	three.Close()
	share("after", "classic", four)
	four.Close()
}

// partitionsOf is what a static member has, kept by its callbacks.
type partitionsOf map[int32]bool

func staticMember(topic, instance string, has partitionsOf, changes *int) *kgo.Client {
	assigned := func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
		*changes++
		for _, number := range given[topic] {
			has[number] = true
		}
	}
	lost := func(_ context.Context, _ *kgo.Client, taken map[string][]int32) {
		for _, number := range taken[topic] {
			delete(has, number)
		}
	}
	return member(topic, kgo.InstanceID(instance), kgo.SessionTimeout(20*time.Second), kgo.Balancers(kgo.RangeBalancer()),
		kgo.BlockRebalanceOnPoll(), kgo.OnPartitionsAssigned(assigned), kgo.OnPartitionsRevoked(lost), kgo.OnPartitionsLost(lost))
}

func staticMembers() {
	topic := settings.Run + "-static"
	must(create(topic, 4))
	ofOne, ofTwo := partitionsOf{}, partitionsOf{}
	var changes, ignored int
	one, two := staticMember(topic, "one", ofOne, &ignored), staticMember(topic, "two", ofTwo, &changes)
	polled := func() {
		for _, each := range []*kgo.Client{one, two} {
			poll(each)
			each.AllowRebalance()
		}
	}
	eventually(func() bool { polled(); return len(ofOne) == 2 && len(ofTwo) == 2 }, "two partitions each")
	before, changed := maps.Clone(ofOne), changes
	one.CloseAllowingRebalance()
	again := partitionsOf{}
	one = staticMember(topic, "one", again, &ignored)
	eventually(func() bool { polled(); return maps.Equal(again, before) }, "its partitions are back")
	check(changes == changed && len(ofTwo) == 2, "the other rebalanced: %d, %v", changes-changed, ofTwo)
	one.CloseAllowingRebalance()
	two.CloseAllowingRebalance()
}

func allow(builder *kadm.ACLBuilder) {
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(20)
	defer cancel()
	created, err := admin.CreateACLs(ctx, builder.ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:alice").AllowHosts("*"))
	must(err)
	must(created[0].Err)
	time.Sleep(time.Second)
}

func groupRules() {
	topic := settings.Run + "-aclgroup"
	must(create(topic, 1))
	must(produce(topic, values("a")))
	alice := secure("alice", settings.Passwords["alice"], by256)
	allow(kadm.NewACLs().Topics(topic).Operations(kmsg.ACLOperationRead))
	reader := member(topic, alice...)
	var refused error
	eventually(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		for _, each := range reader.PollFetches(ctx).Errors() {
			if !errors.Is(each.Err, context.DeadlineExceeded) {
				refused = each.Err
			}
		}
		return refused != nil
	}, "an answer")
	reader.Close()
	check(errors.Is(refused, kerr.GroupAuthorizationFailed), "it was not denied: %v", refused)
	allow(kadm.NewACLs().Groups(topic).Operations(kmsg.ACLOperationRead))
	same(readAll(topic, records, alice...), values("a"), false)
}

func transactionalIDRules() {
	id := settings.Run + "-aclid"
	begin := func() error {
		producer := client(append(secure("alice", settings.Passwords["alice"], by256), kgo.TransactionalID(id))...)
		defer producer.Close()
		ctx, cancel := within(20)
		defer cancel()
		_, _, err := producer.ProducerID(ctx)
		return err
	}
	err := begin()
	check(errors.Is(err, kerr.TransactionalIDAuthorizationFailed), "it was not denied: %v", err)
	allow(kadm.NewACLs().TransactionalIDs(id).Operations(kmsg.ACLOperationWrite))
	must(begin())
}

func transactionOffsets() {
	source := settings.Run + "-chain"
	target := source + "-out"
	must(create(source, 1))
	must(create(target, 1))
	must(produce(source, values("x")))
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(strings.Split(settings.Bootstrap, ",")...), kgo.TransactionalID(source),
		kgo.ConsumerGroup(source), kgo.ConsumeTopics(source), kgo.RequireStableFetchOffsets(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond),
	)
	must(err)
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(60)
	defer cancel()
	for _, commit := range []bool{false, true} {
		must(session.Begin())
		for taken := 0; taken < records; {
			session.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
				taken++
				session.Produce(ctx, &kgo.Record{Topic: target, Value: []byte(strings.ToUpper(string(record.Value)))}, nil)
			})
			must(ctx.Err())
		}
		ended, err := session.End(ctx, kgo.TransactionEndTry(commit))
		must(err)
		check(ended == commit, "committed: %v", ended)
		eventually(func() bool { // offsets of an ended transaction may be under way
			offsets, err := admin.FetchOffsets(ctx, source)
			must(err)
			offset, there := offsets.Lookup(source, 0)
			return there == commit && (!commit || offset.At == records)
		}, "the offset is committed, or not")
	}
	session.Close()
	var expected []string
	for _, each := range values("x") {
		expected = append(expected, strings.ToUpper(each))
	}
	same(readAll(target, records, kgo.FetchIsolationLevel(kgo.ReadCommitted())), expected, false)
}

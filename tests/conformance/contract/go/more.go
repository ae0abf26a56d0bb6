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

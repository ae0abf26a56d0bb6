// The contract's cases of the administrator.
package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// asAdmin makes a topic of one partition for a case and hands it over with an administrator.
func asAdmin(name string, body func(ctx context.Context, admin *kadm.Client, topic string)) {
	topic := settings.Run + "-" + name
	must(create(topic, 1))
	admin := kadm.NewClient(client())
	defer admin.Close()
	ctx, cancel := within(60)
	defer cancel()
	body(ctx, admin, topic)
}

func set(topic string) kadm.TopicsSet {
	found := make(kadm.TopicsSet)
	found.Add(topic, 0)
	return found
}

func deleteRecords() {
	asAdmin("records", func(ctx context.Context, admin *kadm.Client, topic string) {
		must(produce(topic, values("r")))
		var wanted kadm.Offsets
		wanted.AddOffset(topic, 0, 20, -1)
		deleted, err := admin.DeleteRecords(ctx, wanted)
		must(err)
		must(deleted.Error())
		offset := func(ask func(context.Context, ...string) (kadm.ListedOffsets, error)) int64 {
			found, err := ask(ctx, topic)
			must(err)
			one, _ := found.Lookup(topic, 0)
			must(one.Err)
			return one.Offset
		}
		check(offset(admin.ListStartOffsets) == 20, "starts at %d", offset(admin.ListStartOffsets))
		check(offset(admin.ListEndOffsets) == records, "ends at %d", offset(admin.ListEndOffsets))
		check(offset(admin.ListMaxTimestampOffsets) >= 20, "newest %d", offset(admin.ListMaxTimestampOffsets))
		same(readAll(topic, records-20), values("r")[20:], false)
	})
}

func partition(ctx context.Context, admin *kadm.Client, topic string) kadm.PartitionDetail {
	found, err := admin.ListTopics(ctx, topic)
	must(err)
	return found[topic].Partitions[0]
}

func move(ctx context.Context, admin *kadm.Client, topic string, brokers ...int32) {
	var wanted kadm.AlterPartitionAssignmentsReq
	wanted.Assign(topic, 0, brokers)
	changed, err := admin.AlterPartitionAssignments(ctx, wanted)
	must(err)
	must(changed.Error())
	eventually(func() bool {
		underWay, err := admin.ListPartitionReassignments(ctx, set(topic))
		must(err)
		return len(underWay[topic]) == 0 && slices.Equal(partition(ctx, admin, topic).Replicas, brokers)
	}, "the replicas have moved")
}

func reassign() {
	asAdmin("reassign", func(ctx context.Context, admin *kadm.Client, topic string) {
		must(produce(topic, values("m")))
		before := partition(ctx, admin, topic).Replicas
		move(ctx, admin, topic, before[0], before[1])
		move(ctx, admin, topic, before[2], before[0], before[1])
		same(readAll(topic, records), values("m"), false)
	})
}

func elect() {
	asAdmin("elect", func(ctx context.Context, admin *kadm.Client, topic string) {
		before := partition(ctx, admin, topic).Replicas
		move(ctx, admin, topic, before[1], before[2], before[0])
		_, err := admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, set(topic))
		must(err)
		eventually(func() bool { return partition(ctx, admin, topic).Leader == before[1] }, "the preferred leader")
	})
}

func logDirs() {
	asAdmin("logdirs", func(ctx context.Context, admin *kadm.Client, topic string) {
		must(produce(topic, values("l")))
		eventually(func() bool {
			found, err := admin.DescribeAllLogDirs(ctx, set(topic))
			must(err)
			replicas := 0
			for _, each := range found {
				if one, there := each.LookupPartition(topic, 0); there && one.Size > 0 {
					replicas++
				}
			}
			return replicas == 3
		}, "three replicas with bytes")
	})
}

func quotas() {
	asAdmin("quotas", func(ctx context.Context, admin *kadm.Client, user string) {
		id := "c"
		entity := kadm.ClientQuotaEntity{{Type: "user", Name: &user}, {Type: "client-id", Name: &id}}
		alter := func(remove bool) {
			op := kadm.AlterClientQuotaOp{Key: "producer_byte_rate", Value: 12345, Remove: remove}
			changed, err := admin.AlterClientQuotas(ctx, []kadm.AlterClientQuotaEntry{{Entity: entity, Ops: []kadm.AlterClientQuotaOp{op}}})
			must(err)
			must(changed[0].Err)
		}
		described := func() kadm.DescribedClientQuotas {
			found, err := admin.DescribeClientQuotas(ctx, false, []kadm.DescribeClientQuotaComponent{{Type: "user", MatchName: &user}})
			must(err)
			return found
		}
		alter(false)
		eventually(func() bool {
			found := described()
			return len(found) == 1 && slices.Equal(found[0].Values, kadm.ClientQuotaValues{{Key: "producer_byte_rate", Value: 12345}})
		}, "the quota")
		alter(true)
		eventually(func() bool { return len(described()) == 0 }, "it is gone")
	})
}

// logsIn says whether the broker takes the login; any other answer than that it does not fails.
func logsIn(options ...kgo.Opt) bool {
	admin := kadm.NewClient(client(options...))
	defer admin.Close()
	ctx, cancel := within(10)
	defer cancel()
	_, err := admin.BrokerMetadata(ctx)
	check(err == nil || errors.Is(err, kerr.SaslAuthenticationFailed), "it was not a refusal: %v", err)
	return err == nil
}

func scramUsers() {
	asAdmin("user", func(ctx context.Context, admin *kadm.Client, user string) {
		made, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{
			{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: "pass-1"},
		})
		must(err)
		must(made.Error())
		eventually(func() bool {
			found, err := admin.DescribeUserSCRAMs(ctx, user)
			must(err)
			return slices.Equal(found[user].CredInfos, []kadm.CredInfo{{Mechanism: kadm.ScramSha256, Iterations: 4096}})
		}, "the user")
		login := secure(user, "pass-1", by256)
		eventually(func() bool { return logsIn(login...) }, "the user logs in")
		gone, err := admin.AlterUserSCRAMs(ctx, []kadm.DeleteSCRAM{{User: user, Mechanism: kadm.ScramSha256}}, nil)
		must(err)
		must(gone.Error())
		eventually(func() bool { return !logsIn(login...) }, "the user is refused")
	})
}

func groupOffsets() {
	asAdmin("offsets", func(ctx context.Context, admin *kadm.Client, group string) {
		must(produce(group, values("o")))
		readAll(group, records)
		var wanted kadm.Offsets
		wanted.AddOffset(group, 0, 10, -1)
		must(admin.CommitAllOffsets(ctx, group, wanted))
		same(readAll(group, records-10), values("o")[10:], false)
		deleted, err := admin.DeleteOffsets(ctx, group, set(group))
		must(err)
		must(deleted.Error())
		left, err := admin.FetchOffsets(ctx, group)
		must(err)
		_, there := left.Lookup(group, 0)
		check(!there, "an offset is left: %v", left)
	})
}

func abortTransaction() {
	asAdmin("hanging", func(ctx context.Context, admin *kadm.Client, topic string) {
		producer := client(kgo.TransactionalID(topic))
		defer producer.Close()
		must(producer.BeginTransaction())
		must(producer.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("lost")}).FirstErr())
		listed, err := admin.ListTransactions(ctx, nil, []string{"Ongoing"})
		must(err)
		_, there := listed[topic]
		check(there, "it is not listed: %v", listed)
		described, err := admin.DescribeTransactions(ctx, topic)
		must(err)
		check(described[topic].State == "Ongoing", "state %s", described[topic].State)
		state := func() kadm.DescribedProducer {
			found, err := admin.DescribeProducers(ctx, set(topic))
			must(err)
			return found.SortedProducers()[0]
		}
		open := state()
		check(open.ProducerID == described[topic].ProducerID && open.CurrentTxnStartOffset == 0, "producer %v", open)
		written, err := admin.WriteTxnMarkers(ctx, kadm.TxnMarkers{
			ProducerID: open.ProducerID, ProducerEpoch: open.ProducerEpoch, CoordinatorEpoch: max(open.CoordinatorEpoch, 0), Topics: set(topic),
		})
		must(err)
		for _, each := range written.SortedPartitions() {
			must(each.Err)
		}
		check(state().CurrentTxnStartOffset == -1, "it is still open")
		must(produce(topic, []string{"after"}))
		same(readAll(topic, 1, kgo.FetchIsolationLevel(kgo.ReadCommitted())), []string{"after"}, false)
	})
}

func describeCluster() {
	asAdmin("cluster", func(ctx context.Context, admin *kadm.Client, _ string) {
		found, err := admin.BrokerMetadata(ctx)
		must(err)
		check(len(found.Brokers) == 3 && len(found.Cluster) == 22 && found.Controller >= 0, "cluster %v", found)
		versions, err := admin.ApiVersions(ctx)
		must(err)
		check(len(versions) == 3, "versions of %d brokers", len(versions))
	})
}

func delegationTokens() {
	asAdmin("token", func(ctx context.Context, _ *kadm.Client, topic string) {
		admin := kadm.NewClient(client(secure("admin", settings.Passwords["admin"], by512)...))
		defer admin.Close()
		token, err := admin.CreateDelegationToken(ctx, kadm.CreateDelegationToken{MaxLifetime: 10 * time.Minute})
		must(err)
		login := secure(token.TokenID, encoded(token.HMAC), byToken)
		eventually(func() bool { return logsIn(login...) }, "the token logs in")
		must(produce(topic, values("t"), login...))
		same(readAll(topic, records, login...), values("t"), false)
		eventually(func() bool {
			found, err := admin.DescribeDelegationTokens(ctx)
			must(err)
			return slices.ContainsFunc(found, func(each kadm.DelegationToken) bool { return each.TokenID == token.TokenID })
		}, "it is described")
		until, err := admin.RenewDelegationToken(ctx, token.HMAC, time.Minute)
		must(err)
		check(time.Until(until) > 0 && time.Until(until) < 90*time.Second, "it ends at %v", until)
		_, err = admin.ExpireDelegationToken(ctx, token.HMAC, -time.Millisecond)
		must(err)
		eventually(func() bool { return !logsIn(login...) }, "it is refused")
	})
}

// The contract's cases of the administrator.
package main

import (
	"errors"
	"slices"

	"github.com/IBM/sarama"
)

func topics() {
	asAdmin("topics", func(found sarama.ClusterAdmin, topic string) {
		must(found.CreatePartitions(topic, 3, nil, false))
		eventually(func() bool { return len(described(found, topic).Partitions) == 3 }, "three partitions")
		must(found.DeleteTopic(topic))
		eventually(func() bool {
			listed, err := found.ListTopics()
			must(err)
			_, there := listed[topic]
			return !there
		}, "it is gone")
	})
}

func described(found sarama.ClusterAdmin, topic string) *sarama.TopicMetadata {
	all, err := found.DescribeTopics([]string{topic})
	must(err)
	must(orNil(all[0].Err))
	return all[0]
}

func orNil(code sarama.KError) error {
	if code == sarama.ErrNoError {
		return nil
	}
	return code
}

func configs() {
	asAdmin("configs", func(found sarama.ClusterAdmin, topic string) {
		retention := func() string {
			entries, err := found.DescribeConfig(sarama.ConfigResource{
				Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"},
			})
			must(err)
			return entries[0].Value
		}
		check(retention() == "604800000", "retention is %s", retention())
		value := "1000"
		must(found.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
			"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
		}, false))
		eventually(func() bool { return retention() == value }, "the new value")
	})
}

func groups() {
	asAdmin("groups", func(found sarama.ClusterAdmin, topic string) {
		must(produce(topic, values("a"), plain(none)))
		readAll(topic, records, plain(none))
		listed, err := found.ListConsumerGroups()
		must(err)
		check(listed[topic] == "consumer", "listed: %v", listed)
		state, err := found.DescribeConsumerGroups([]string{topic})
		must(err)
		check(state[0].State == "Empty", "state %s", state[0].State)
		check(committed(found, topic) == records, "offset %d", committed(found, topic))
		must(found.DeleteConsumerGroup(topic))
	})
}

func groupOffsets() {
	asAdmin("offsets", func(found sarama.ClusterAdmin, group string) {
		must(produce(group, values("o"), plain(none)))
		readAll(group, records, plain(none))
		_, err := found.AlterConsumerGroupOffsets(group, map[string]map[int32]sarama.OffsetAndMetadata{group: {0: {Offset: 10, LeaderEpoch: -1}}}, nil)
		must(err)
		same(readAll(group, records-10, plain(none)), values("o")[10:], false)
		must(found.DeleteConsumerGroupOffset(group, group, 0))
		check(committed(found, group) == -1, "an offset is left")
	})
}

func acls() {
	found := admin(plain(none))
	defer found.Close()
	name := settings.Run + "-acls"
	must(found.CreateACL(resource(sarama.AclResourceTopic, name), rule("somebody", sarama.AclOperationRead)))
	filter := sarama.AclFilter{
		ResourceType: sarama.AclResourceTopic, ResourceName: &name, ResourcePatternTypeFilter: sarama.AclPatternLiteral,
		Operation: sarama.AclOperationAny, PermissionType: sarama.AclPermissionAny,
	}
	eventually(func() bool {
		listed, err := found.ListAcls(filter)
		must(err)
		return len(listed) == 1 && listed[0].Acls[0].Principal == "User:somebody"
	}, "the rule is described")
	deleted, err := found.DeleteACL(filter, false)
	must(err)
	check(len(deleted) == 1, "deleted: %v", deleted)
}

func deleteRecords() {
	asAdmin("records", func(found sarama.ClusterAdmin, topic string) {
		must(produce(topic, values("r"), plain(none)))
		must(found.DeleteRecords(topic, map[int32]int64{0: 20}))
		offset := func(when int64) int64 {
			listed, err := found.ListOffsets(map[string]map[int32]int64{topic: {0: when}}, nil)
			must(err)
			check(errors.Is(listed[topic][0].Err, sarama.ErrNoError), "offset: %v", listed[topic][0].Err)
			return listed[topic][0].Offset
		}
		check(offset(sarama.OffsetOldest) == 20, "starts at %d", offset(sarama.OffsetOldest))
		check(offset(sarama.OffsetNewest) == records, "ends at %d", offset(sarama.OffsetNewest))
		same(readAll(topic, records-20, plain(none)), values("r")[20:], false)
	})
}

func partition(found sarama.ClusterAdmin, topic string) *sarama.PartitionMetadata {
	return described(found, topic).Partitions[0]
}

func move(found sarama.ClusterAdmin, topic string, brokers ...int32) {
	must(found.AlterPartitionReassignments(topic, [][]int32{brokers}))
	eventually(func() bool {
		underWay, err := found.ListPartitionReassignments(topic, []int32{0})
		must(err)
		return len(underWay[topic]) == 0 && slices.Equal(partition(found, topic).Replicas, brokers)
	}, "the replicas have moved")
}

func reassign() {
	asAdmin("reassign", func(found sarama.ClusterAdmin, topic string) {
		must(produce(topic, values("m"), plain(none)))
		before := partition(found, topic).Replicas
		move(found, topic, before[0], before[1])
		move(found, topic, before[2], before[0], before[1])
		same(readAll(topic, records, plain(none)), values("m"), false)
	})
}

func elect() {
	asAdmin("elect", func(found sarama.ClusterAdmin, topic string) {
		before := partition(found, topic).Replicas
		move(found, topic, before[1], before[2], before[0])
		_, err := found.ElectLeaders(sarama.PreferredElection, map[string][]int32{topic: {0}})
		must(err)
		eventually(func() bool { return partition(found, topic).Leader == before[1] }, "the preferred leader")
	})
}

func logDirs() {
	asAdmin("logdirs", func(found sarama.ClusterAdmin, topic string) {
		must(produce(topic, values("l"), plain(none)))
		eventually(func() bool {
			all, err := found.DescribeLogDirs([]int32{0, 1, 2})
			must(err)
			replicas := 0
			for _, directories := range all {
				for _, directory := range directories {
					for _, each := range directory.Topics {
						if each.Topic == topic && each.Partitions[0].Size > 0 {
							replicas++
						}
					}
				}
			}
			return replicas == 3
		}, "three replicas with bytes")
	})
}

func quotas() {
	found := admin(plain(none))
	defer found.Close()
	user := settings.Run + "-quotas"
	entity := []sarama.QuotaEntityComponent{
		{EntityType: sarama.QuotaEntityUser, MatchType: sarama.QuotaMatchExact, Name: user},
		{EntityType: sarama.QuotaEntityClientID, MatchType: sarama.QuotaMatchExact, Name: "c"},
	}
	op := sarama.ClientQuotasOp{Key: "producer_byte_rate", Value: 12345}
	wanted := []sarama.QuotaFilterComponent{{EntityType: sarama.QuotaEntityUser, MatchType: sarama.QuotaMatchExact, Match: user}}
	entries := func() []sarama.DescribeClientQuotasEntry {
		all, err := found.DescribeClientQuotas(wanted, false)
		must(err)
		return all
	}
	must(found.AlterClientQuotas(entity, op, false))
	eventually(func() bool { all := entries(); return len(all) == 1 && all[0].Values[op.Key] == op.Value }, "the quota")
	op.Remove = true
	must(found.AlterClientQuotas(entity, op, false))
	eventually(func() bool { return len(entries()) == 0 }, "it is gone")
}

func scramUsers() {
	found := admin(plain(none))
	defer found.Close()
	user := settings.Run + "-user"
	made, err := found.UpsertUserScramCredentials([]sarama.AlterUserScramCredentialsUpsert{{
		Name: user, Mechanism: sarama.SCRAM_MECHANISM_SHA_256, Iterations: 4096, Salt: []byte("a salt of its own"), Password: []byte("pass-1"),
	}})
	must(err)
	must(orNil(made[0].ErrorCode))
	eventually(func() bool {
		all, err := found.DescribeUserScramCredentials([]string{user})
		must(err)
		return len(all[0].CredentialInfos) == 1 && all[0].CredentialInfos[0].Iterations == 4096
	}, "the user")
	as := secure(user, sarama.SASLTypeSCRAMSHA256, "pass-1")
	eventually(func() bool { return logsIn(as) }, "the user logs in")
	gone, err := found.DeleteUserScramCredentials([]sarama.AlterUserScramCredentialsDelete{{Name: user, Mechanism: sarama.SCRAM_MECHANISM_SHA_256}})
	must(err)
	must(orNil(gone[0].ErrorCode))
	eventually(func() bool { return !logsIn(as) }, "the user is refused")
}

func describeCluster() {
	found := admin(plain(none))
	defer found.Close()
	brokers, controller, err := found.DescribeCluster()
	must(err)
	check(len(brokers) == 3, "%d brokers", len(brokers))
	check(slices.ContainsFunc(brokers, func(each *sarama.Broker) bool { return each.ID() == controller }), "controller %d", controller)
}

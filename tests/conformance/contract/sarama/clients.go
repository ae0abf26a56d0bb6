// What the cases are made of: the client's parts, made and used.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// login is a configuration with the brokers that it is for.
type login struct {
	brokers []string
	change  func(*sarama.Config)
}

func plain(change func(*sarama.Config)) login {
	return login{strings.Split(settings.Bootstrap, ","), change}
}

func none(*sarama.Config) {}

// with is this login, changed further.
func (l login) with(change func(*sarama.Config)) login {
	before := l.change
	return login{l.brokers, func(config *sarama.Config) { before(config); change(config) }}
}

func (l login) config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_9_0_0
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewRoundRobinPartitioner
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	config.Consumer.Return.Errors = true
	config.Metadata.Retry.Max = 1
	l.change(config)
	return config
}

// conversation is a login by SCRAM, of which sarama has the frame only.
type conversation struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authorization string) error {
	client, err := c.hash.NewClient(user, password, authorization)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

type bearer string

func (b bearer) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: string(b)}, nil
}

func secure(user, mechanism, secret string) login {
	return login{strings.Split(settings.SecureBootstrap, ","), func(config *sarama.Config) {
		pem, err := os.ReadFile(settings.CA)
		must(err)
		roots := x509.NewCertPool()
		check(roots.AppendCertsFromPEM(pem), "no certificate in %s", settings.CA)
		config.Net.TLS.Enable = true
		config.Net.TLS.Config = &tls.Config{RootCAs: roots}
		config.Net.SASL.Enable = true
		config.Net.SASL.Mechanism = sarama.SASLMechanism(mechanism)
		config.Net.SASL.User, config.Net.SASL.Password = user, secret
		switch mechanism {
		case sarama.SASLTypeOAuth:
			config.Net.SASL.TokenProvider = bearer(secret)
		case sarama.SASLTypeSCRAMSHA256:
			config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: scram.SHA256} }
		case sarama.SASLTypeSCRAMSHA512:
			config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: scram.SHA512} }
		}
	}}
}

func alice() login { return secure("alice", sarama.SASLTypeSCRAMSHA256, settings.Passwords["alice"]) }

func admin(as login) sarama.ClusterAdmin {
	found, err := sarama.NewClusterAdmin(as.brokers, as.config())
	must(err)
	return found
}

// asAdmin makes a topic of one partition for a case and hands it over with an administrator.
func asAdmin(name string, body func(admin sarama.ClusterAdmin, topic string)) {
	topic := settings.Run + "-" + name
	create(topic, 1, plain(none))
	found := admin(plain(none))
	defer found.Close()
	body(found, topic)
}

func create(topic string, partitions int32, as login) {
	found := admin(as)
	defer found.Close()
	must(found.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 3}, false))
}

func produce(topic string, items []string, as login) error {
	producer, err := sarama.NewSyncProducer(as.brokers, as.config())
	if err != nil {
		return err
	}
	defer producer.Close()
	var batch []*sarama.ProducerMessage
	for _, item := range items {
		batch = append(batch, &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(item)})
	}
	if err := producer.SendMessages(batch); err != nil {
		return err.(sarama.ProducerErrors)[0].Err
	}
	return nil
}

// member is one of a group: its session runs until it leaves.
type member struct {
	group   sarama.ConsumerGroup
	topic   string
	ended   context.CancelFunc
	done    chan struct{}
	mutex   sync.Mutex
	values  []string
	claims  []int32
	changes int
	failed  error
	session sarama.ConsumerGroupSession
}

func join(topic string, as login) *member {
	group, err := sarama.NewConsumerGroup(as.brokers, topic, as.config())
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	found := &member{group: group, topic: topic, ended: cancel, done: make(chan struct{})}
	go func() {
		defer close(found.done)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{topic}, found); err != nil {
				found.note(err)
				return
			}
		}
	}()
	go func() {
		for err := range group.Errors() {
			found.note(err)
		}
	}()
	return found
}

func (m *member) note(err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.failed = err
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	m.claims = slices.Clone(session.Claims()[m.topic])
	slices.Sort(m.claims)
	m.changes++
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		m.mutex.Lock()
		m.values = append(m.values, string(message.Value))
		m.mutex.Unlock()
		session.MarkMessage(message, "")
	}
	return nil
}

func (m *member) has() (items []string, claims []int32, changes int, failed error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.values), slices.Clone(m.claims), m.changes, m.failed
}

func (m *member) read(count int) []string {
	var found []string
	eventually(func() bool {
		items, _, _, failed := m.has()
		must(failed)
		found = items
		return len(found) >= count
	}, "the records")
	return found
}

func (m *member) leave() {
	m.ended()
	<-m.done
	must(m.group.Close())
}

func readAll(topic string, count int, as login) []string {
	reader := join(topic, as)
	defer reader.leave()
	found := reader.read(count)
	reader.session.Commit()
	return found
}

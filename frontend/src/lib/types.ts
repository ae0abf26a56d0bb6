/** Names for the shapes of the REST API and the console, all generated from the OpenAPI document. */
import type { components } from "@/generated/api";

type Schemas = components["schemas"];

export type Cluster = Schemas["Cluster"];
export type Broker = Schemas["Broker"];
export type TopicRow = Schemas["TopicRow"];
export type TopicCounts = Schemas["TopicCounts"];
export type GroupCounts = Schemas["GroupCounts"];
export type TopicDetail = Schemas["Topic"];
export type Partition = Schemas["Partition"];
export type PartitionReplicas = Schemas["PartitionReplicas"];
export type TopicReplicas = Schemas["TopicReplicas"];
/** One copy of a partition, as its holder says; null: not known. */
export type Replica = Schemas["Replica"];
export type TopicProducers = Schemas["Producers"];
export type Producer = Schemas["Producer"];
/** How an open transaction stands. */
export type TransactionStanding = Schemas["StandingEnum"];
export type ConfigEntry = Schemas["ConfigEntry"];
export type GroupRow = Schemas["GroupRow"];
export type GroupDetail = Schemas["Group"];
export type GroupMember = Schemas["GroupMember"];
export type GroupOffset = Schemas["GroupOffset"];
export type KafkaUser = Schemas["ListedUser"];
export type ListCounts = Schemas["ListCounts"];
/** Two passwords of one user that work beside each other. */
export type PasswordOverlap = Schemas["PasswordOverlap"];
/** Users and rules that are not as the last verified operation left them, and when each was read. */
export type AccessDriftPage = Schemas["DriftOfPage"];
/** What of a cluster is not as it was left, and how what it was compared with was read. */
export type ClusterDrift = Schemas["ClusterDrift"];
export type Difference = Schemas["Difference"];
export type AclBinding = Schemas["AclBinding"];
/** What each broker lets one user or client id use; null: no quota of its own. */
export type ClientQuota = Schemas["ClientQuota"];
export type ClientQuotasPage = Schemas["QuotasOfPage"];
export type ActiveReassignments = Schemas["ActiveReassignments"];
/** One partition of a reassignment on its way; bytes of null are not known. */
export type MoveRow = Schemas["MoveProgress"];
export type Plan = Schemas["Plan"];
export type PlanRequest = Schemas["PlanInputRequest"];
/** What a plan of this kind takes. */
export type PlanInputs<K extends OperationKind> = Extract<PlanRequest, { kind: K }>["inputs"];
/** A rule to add or remove, in the words that the service takes. */
export type AclRule = PlanInputs<"acl.create">["bindings"][number];
export type OffsetDiffData = Schemas["OffsetDiff"];
export type GroupDeletionDiffData = Schemas["GroupDeletionDiff"];
export type ElectionDiffData = Schemas["LeadersElectDiff"];
export type ConfigureDiffData = Schemas["ConfigureDiff"];
export type RollDiffData = Schemas["RollDiff"];
export type AddBrokersDiffData = Schemas["AddBrokersDiff"];
export type RemoveBrokersDiffData = Schemas["RemoveBrokersDiff"];
/** A plan that an operation or a refusal offers, on the same cluster. */
export type NextPlan = Schemas["NextPlan"];
export type AddLogDirectoryDiffData = Schemas["AddLogDirectoryDiff"];
export type EmptyLogDirectoryDiffData = Schemas["EmptyLogDirectoryDiff"];
export type UpgradeDiffData = Schemas["UpgradeDiff"];
export type FinalizeDiffData = Schemas["FinalizeDiff"];
export type ClusterVersions = Schemas["ClusterVersions"];
export type RolledBroker = Schemas["Rolled"];
export type ReassignmentDiffData = Schemas["ReassignmentDiff"];
export type OperationKind = Schemas["OperationKindEnum"];
export type PlanWarning = Schemas["Warning"];
/** What the plan's own undo would put back, and what not. */
export type PlanUndo = Schemas["Undo"];
export type Risk = Schemas["RiskEnum"];
/** One measure of what a plan hits; a value of null is not known. */
export type Extent = Schemas["Extent"];
/** How far one address of a Kafka let the service in. */
export type Probe = Schemas["Probe"];
export type Operation = Schemas["Operation"];
export type OperationStep = Schemas["Step"];
export type OperationState = Schemas["OperationStateEnum"];
export type AuditEvent = Schemas["AuditEvent"];
export type LagPoint = Schemas["LagPoint"];
export type TopicRetention = Schemas["TopicRetention"];
export type AnalyticsRun = Schemas["AnalyticsRun"];
export type ClientConfig = Schemas["ClientConfig"];
export type Lag = Schemas["Lag"];
export type LagCounts = Schemas["LagCounts"];
export type RetentionCounts = Schemas["RetentionCounts"];
export type Retention = Schemas["Retention"];
export type Collector = Schemas["Collector"];
export type BrokerDetail = Schemas["BrokerDetail"];
export type BrokerDirectories = Schemas["BrokerDirectories"];
export type BrokerPlacement = Schemas["BrokerPlacement"];
export type BrokerProcess = Schemas["BrokerProcess"];
export type BrokerLoad = Schemas["Load"];
export type ClusterSummary = Schemas["ClusterSummary"];
export type Attention = Schemas["Attention"];
export type Session = Schemas["Session"];
export type AuditEventPage = Schemas["AuditEventPage"];
export type Message = Schemas["Message"];
/** A key, a value or a header as it is shown. */
export type MessagePart = Schemas["MessagePart"];
export type NewMessage = Schemas["NewMessageRequest"];
/** What of a tenant's messages is hidden from whom. */
export type Mask = Schemas["Mask"];
export type MaskInput = Schemas["MaskInputRequest"];
export type SchemaRegistry = Schemas["SchemaRegistry"];
export type SchemaRegistryInput = Schemas["SchemaRegistryInputRequest"];
export type MessageEvents = Schemas["MessageEvents"];
/** The live streams: the data of their events, by the events' names. */
export type ChangeEvents = Schemas["ChangeEvents"];
export type OperationEvents = Schemas["OperationEvents"];
export type Role = Schemas["RoleEnum"];
export type Member = Schemas["Member"];
/** A role over clusters, or over topics or groups on them, by name. */
export type Grant = Schemas["Grant"];
export type Invitation = Schemas["Invitation"];
export type ServiceAccount = Schemas["ServiceAccount"];
export type ApiKey = Schemas["ApiKey"];
export type TenantSummary = Schemas["OperatorTenant"];
export type TenantState = Schemas["TenantStateEnum"];
export type PlatformUser = Schemas["OperatorUser"];
export type PlatformHost = Schemas["OperatorHost"];
export type HostPlan = Schemas["HostPlan"];
export type HostMove = Schemas["HostMove"];
export type HostRefusal = Schemas["HostRefusal"];
/** One of several sentences that the service says one after the other. */
export type SaidPart = Schemas["DetailPart"];
export type HostTokenCreated = Schemas["HostTokenCreated"];
export type OpenInvitation = Schemas["OpenInvitation"];
export type Alert = Schemas["Alert"];
/** An alert with every move that it has made. */
export type AlertDetail = Schemas["AlertDetail"];
export type AlertSeverity = Schemas["AlertSeverityEnum"];
export type AlertRule = Schemas["AlertRule"];
export type HostAlert = Schemas["HostAlert"];
export type AlertRuleId = Schemas["AlertRuleEnum"];
export type HostAlertRuleId = Schemas["HostAlertRuleEnum"];
/** What a tenant sets in place of a rule's defaults, for all or a part. */
export type AlertOverride = Schemas["AlertOverride"];
/** Alerts that nobody is told of for a while; planned ahead: a maintenance window. */
export type Silence = Schemas["Silence"];
/** Where alerts are sent; its secrets are in no answer. */
export type Destination = Schemas["Destination"];
export type DestinationKind = Schemas["DestinationKindEnum"];
export type DestinationTest = Schemas["DestinationTest"];
/** One event on its way to one destination. */
export type Delivery = Schemas["Delivery"];
/** Something that happened: observed, done, fired or deployed. */
export type TimelineEvent = Schemas["TimelineEvent"];
export type TimelineKind = Schemas["TimelineKindEnum"];
/** What to do when: its sections, checks, decisions and acts. */
export type Runbook = Schemas["Runbook"];
export type RunbookRow = Schemas["RunbookRow"];
export type RunbookPart = Schemas["RunbookPart"];
export type RunbookRun = Schemas["RunbookRun"];
export type RunbookRunDetail = Schemas["RunbookRunDetail"];
/** What a check said, or the plan that an act has made. */
export type RunbookEntry = Schemas["RunbookEntry"];
/** A longer retention of a topic that ends by itself. */
export type TopicLease = Schemas["TopicLease"];
/** Settings before and after: the topic's own, and what holds. */
export type ConfigDiffData = Schemas["ConfigDiff"];
/** The groups that read a topic, each with its lag on it alone. */
export type TopicReaders = Schemas["TopicReaders"];
/** What goes when a topic is emptied. */
export type EmptyDiffData = Schemas["EmptyDiff"];
export type LeaseDiffData = Schemas["RetentionLeaseDiff"];

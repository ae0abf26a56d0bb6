import type { Plan } from "@/lib/types";
import { AclDiff } from "./diffs/acl-diff";
import { AddressDiff } from "./diffs/address-diff";
import { ConfigDiff } from "./diffs/config-diff";
import { ConfigureDiff } from "./diffs/configure-diff";
import { AddLogDirectoryDiff, EmptyLogDirectoryDiff } from "./diffs/directories-diff";
import { ElectionDiff } from "./diffs/election-diff";
import { EmptyDiff } from "./diffs/empty-diff";
import { FieldDiff } from "./diffs/field-diff";
import { LeaseDiff } from "./diffs/lease-diff";
import { GroupDiff } from "./diffs/group-diff";
import { OffsetDiff } from "./diffs/offset-diff";
import { QuotaDiff } from "./diffs/quota-diff";
import { ReassignmentDiff } from "./diffs/reassignment-diff";
import { RollDiff } from "./diffs/roll-diff";
import { AddBrokersDiff, RemoveBrokersDiff } from "./diffs/scale-diff";
import { FinalizeDiff, UpgradeDiff } from "./diffs/upgrade-diff";
import { ZooKeeperDiff } from "./diffs/zookeeper-diff";

/** The effect of a plan, drawn for its kind; most kinds change one thing and show it before and after. `past`: it was confirmed. */
export function PlanDiff({ plan, past = false }: { plan: Plan; past?: boolean }) {
  switch (plan.kind) {
    case "reassignment":
      return <ReassignmentDiff diff={plan.diff} />;
    case "leaders.elect":
      return <ElectionDiff diff={plan.diff} />;
    case "cluster.configure":
      return <ConfigureDiff diff={plan.diff} />;
    case "cluster.restart":
      return <RollDiff diff={plan.diff} />;
    case "cluster.add_brokers":
      return <AddBrokersDiff diff={plan.diff} />;
    case "cluster.remove_brokers":
      return <RemoveBrokersDiff diff={plan.diff} />;
    case "cluster.add_log_directory":
      return <AddLogDirectoryDiff diff={plan.diff} />;
    case "cluster.empty_log_directory":
      return <EmptyLogDirectoryDiff diff={plan.diff} />;
    case "cluster.upgrade":
      return <UpgradeDiff diff={plan.diff} />;
    case "cluster.change_addresses":
      return <AddressDiff diff={plan.diff} />;
    case "cluster.change_zookeeper":
      return <ZooKeeperDiff diff={plan.diff} />;
    case "cluster.finalize_version":
      return <FinalizeDiff diff={plan.diff} />;
    case "offset.reset":
    case "offset.restore":
      return <OffsetDiff diff={plan.diff} />;
    case "group.delete":
      return <GroupDiff diff={plan.diff} />;
    case "acl.create":
      return <AclDiff bindings={plan.diff.after} added />;
    case "acl.delete":
      return <AclDiff bindings={plan.diff.before} added={false} />;
    case "topic.empty":
      return <EmptyDiff diff={plan.diff} />;
    case "topic.retention_lease":
      return <LeaseDiff diff={plan.diff} />;
    case "topic.update":
    case "topic.retention_restore":
      return <ConfigDiff diff={plan.diff} past={past} />;
    case "quota.set":
      return <QuotaDiff before={plan.diff.before} after={plan.diff.after} />;
    default:
      return <FieldDiff before={plan.diff.before} after={plan.diff.after} past={past} />;
  }
}

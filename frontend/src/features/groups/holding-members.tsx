import { Notice } from "@/components/notice";
import { plural } from "@/lib/format";
import type { GroupMember } from "@/lib/types";

const NAMED_MAX = 10;

/** Who keeps a reset from running: offsets can be set only while nobody consumes. */
export function HoldingMembers({ members }: { members: GroupMember[] }) {
  const more = members.length - NAMED_MAX;
  return (
    <Notice
      tone="warn"
      title={`${plural(members.length, "member")} of this group ${members.length === 1 ? "is" : "are"} active`}
    >
      Offsets can be set only while nobody consumes. Stop the members; this page notices it by itself.
      <ul aria-label="Members that keep it from running" style={{ margin: "4px 0 0", paddingLeft: 18 }}>
        {members.slice(0, NAMED_MAX).map((member) => (
          <li key={member.member_id} title={member.member_id}>
            <span className="ps-text">{member.client_id}</span> on{" "}
            <span className="ps-mono">{member.host.replace(/^\//, "")}</span>
            {`, ${plural(member.partitions.length, "partition")}`}
          </li>
        ))}
        {more > 0 && <li>and {plural(more, "other")}</li>}
      </ul>
    </Notice>
  );
}

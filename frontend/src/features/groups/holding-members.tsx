import { Notice } from "@/components/notice";
import type { GroupMember } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.holdingMembers;

const NAMED_MAX = 10;

/** Who keeps a reset from running: offsets can be set only while nobody consumes. */
export function HoldingMembers({ members }: { members: GroupMember[] }) {
  const more = members.length - NAMED_MAX;
  return (
    <Notice tone="warn" title={say.active(members.length)}>
      {say.stopTheMembers}
      <ul aria-label={say.membersThatHold} style={{ margin: "4px 0 0", paddingLeft: 18 }}>
        {members.slice(0, NAMED_MAX).map((member) => (
          <li key={member.member_id} title={member.member_id}>
            {say.memberOn(
              <span className="ps-text">{member.client_id}</span>,
              <span className="ps-mono">{member.host.replace(/^\//, "")}</span>,
              member.partitions.length,
            )}
          </li>
        ))}
        {more > 0 && <li>{say.andOthers(more)}</li>}
      </ul>
    </Notice>
  );
}

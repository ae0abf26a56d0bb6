import { grantLabel, grantSentence, roleWord } from "@/lib/grant-words";
import type { Grant } from "@/lib/types";
import { words } from "@/words/settings";

const say = words.rights;

/** What a member or a key may: the role over everything, and each grant beside it. */
export function Rights({ role, grants }: { role: string; grants: Grant[] }) {
  if (grants.length === 0) return <>{role === "limited" ? say.nothingYet : roleWord(role)}</>;
  return (
    <>
      {role !== "limited" && roleWord(role)}
      <ul style={{ margin: 0, padding: 0, listStyle: "none", fontSize: "0.75rem", overflowWrap: "anywhere" }}>
        {grants.map((grant, index) => (
          <li key={index} title={grantSentence(grant)}>
            {grantLabel(grant)}
          </li>
        ))}
      </ul>
    </>
  );
}

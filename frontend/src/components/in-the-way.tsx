import { toProblem } from "@/lib/problem";
import { words } from "@/words/scaling";

const say = words.nextPlan;
const SHOWN_MAX = 20;

/** The partitions that a refusal names; nothing where it names none. */
export function InTheWay({ error }: { error: unknown }) {
  const { partitions, partitions_total } = toProblem(error);
  if (!partitions?.length) return null;
  const shown = partitions.slice(0, SHOWN_MAX);
  const more = (partitions_total ?? partitions.length) - shown.length;
  return (
    <div>
      <strong>{say.inTheWay}</strong>
      <ul aria-label={say.inTheWay} style={{ margin: "4px 0", paddingLeft: 18 }}>
        {shown.map((name) => (
          <li key={name} className="ps-mono">
            {name}
          </li>
        ))}
        {more > 0 && <li className="ps-muted">{say.andMore(more)}</li>}
      </ul>
    </div>
  );
}

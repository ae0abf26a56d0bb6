import type { ConfigDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Breakable } from "../breakable";
import { ConfigValue } from "../config-value";

const say = words.configDiff;

/** Settings before and after, each as it holds: what has no value of its own shows the default that holds then. */
export function ConfigDiff({ diff, past = false }: { diff: ConfigDiffData; past?: boolean }) {
  const own = { before: configsOf(diff.before), after: configsOf(diff.after) };
  const names = [...new Set([...Object.keys(own.before), ...Object.keys(own.after)])].sort();
  const side = (name: string, values: Record<string, string | null>, effective: Record<string, string | null>) => (
    <ConfigValue
      name={name}
      value={effective[name] ?? values[name] ?? null}
      isDefault={(values[name] ?? null) === null}
    />
  );
  return (
    <div className="ps-card">
      <div className="ps-table-wrap" style={{ maxHeight: 340, overflowY: "auto" }}>
        <table className="ps-table" aria-label={say.changes}>
          <thead>
            <tr>
              <th scope="col">{say.setting}</th>
              <th scope="col">{past ? say.before : say.now}</th>
              <th scope="col">{past ? say.after : say.afterwards}</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <td className="ps-mono">
                  <Breakable text={name} />
                </td>
                <td className="ps-mono ps-diff-del">{side(name, own.before, diff.effective_before)}</td>
                <td className="ps-mono ps-diff-add">{side(name, own.after, diff.effective_after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** What a side of the diff sets on the topic itself; null: nothing, so the default holds. */
function configsOf(side: unknown): Record<string, string | null> {
  const configs = (side as { configs?: Record<string, string | null> } | null)?.configs;
  return configs ?? {};
}

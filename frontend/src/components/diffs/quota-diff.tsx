import { QUOTA_KEYS, quotaWords, quotaText } from "@/lib/quotas";
import type { ClientQuota } from "@/lib/types";
import { words } from "@/words/diffs";

const say = words.quotaDiff;

type Values = ClientQuota["quotas"];

function Value({ name, values }: { name: (typeof QUOTA_KEYS)[number]; values: Values }) {
  const value = values[name];
  if (value === null) return <span className="ps-muted">{say.noQuota}</span>;
  return <span title={say.perBroker(name, value)}>{quotaText(name, value)}</span>;
}

/** What each broker lets through, before and after: only what changes. */
export function QuotaDiff({ before, after }: { before: Values; after: Values }) {
  const changed = QUOTA_KEYS.filter((key) => before[key] !== after[key]);
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.changes}>
          <thead>
            <tr>
              <th scope="col">{say.perBroker2}</th>
              <th scope="col">{say.before}</th>
              <th scope="col">{say.after}</th>
            </tr>
          </thead>
          <tbody>
            {changed.map((key) => (
              <tr key={key}>
                <td>{quotaWords[key].title}</td>
                <td className="ps-diff-del">
                  <Value name={key} values={before} />
                </td>
                <td className="ps-diff-add">
                  <Value name={key} values={after} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

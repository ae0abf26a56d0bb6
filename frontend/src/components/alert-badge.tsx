import { byHarm, useOpenAlerts } from "@/lib/alerts";
import { formatInteger, plural } from "@/lib/format";
import { Hint } from "./hint";

/** How many alerts fire, beside the link to them. Acknowledged ones have somebody already and are not counted. */
export function AlertBadge() {
  const { data, isError } = useOpenAlerts();
  if (!data) {
    if (!isError) return null;
    return (
      <Hint label="Which alerts fire could not be read.">
        <span className="ps-count" data-tone="muted" role="img" aria-label="alerts not known">
          ?
        </span>
      </Hint>
    );
  }
  const firing = data.data.filter((alert) => alert.state === "firing").sort(byHarm);
  const worst = firing[0];
  if (!worst) return null;
  const more = data.page.has_more;
  const text = `${more ? "at least " : ""}${plural(firing.length, "alert fires", "alerts fire")}, the worst is ${worst.severity}${isError ? "; not read lately" : ""}`;
  return (
    <Hint label={text}>
      <span className="ps-count" data-tone={isError ? "muted" : worst.severity} role="img" aria-label={text}>
        {formatInteger(firing.length)}
        {more && "+"}
      </span>
    </Hint>
  );
}

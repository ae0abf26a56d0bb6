import { byHarm, useOpenAlerts } from "@/lib/alerts";
import { formatInteger } from "@/lib/format";
import { words } from "@/words/parts";
import { Hint } from "./hint";

const say = words.alertBadge;

/** How many alerts fire, beside the link to them. Acknowledged ones have somebody already and are not counted. */
export function AlertBadge() {
  const { data, isError } = useOpenAlerts();
  if (!data) {
    if (!isError) return null;
    return (
      <Hint label={say.whichAlertsFireCouldNot}>
        <span className="ps-count" data-tone="muted" role="img" aria-label={say.alertsNotKnown}>
          ?
        </span>
      </Hint>
    );
  }
  const firing = data.data.filter((alert) => alert.state === "firing").sort(byHarm);
  const worst = firing[0];
  if (!worst) return null;
  const more = data.page.has_more;
  const fires = (more ? say.atLeastFire : say.fire)(firing.length, say.severities[worst.severity]);
  const text = isError ? say.notReadLately(fires) : fires;
  return (
    <Hint label={text}>
      <span className="ps-count" data-tone={isError ? "muted" : worst.severity} role="img" aria-label={text}>
        {formatInteger(firing.length)}
        {more && "+"}
      </span>
    </Hint>
  );
}

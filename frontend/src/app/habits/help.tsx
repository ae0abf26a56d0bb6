import { Modal } from "@mantine/core";
import { Fragment } from "react";
import { words } from "@/words";
import { isInCluster, type Place } from "./places";
import { isMac } from "./shortcuts";

const say = words.palette.help;

interface HelpProps {
  opened: boolean;
  onClose: () => void;
  places: Place[];
}

interface Row {
  keys: string[];
  does: string;
  isSequence?: boolean;
}

/** Which keys do what. */
export default function Help({ opened, onClose, places }: HelpProps) {
  const goes = (wanted: boolean): Row[] =>
    places
      .filter((place) => place.key && isInCluster(place) === wanted)
      .map((place) => ({
        keys: ["G", (place.key ?? "").toUpperCase()],
        does: say.goTo(place.title),
        isSequence: true,
      }));
  const everywhere: Row[] = [
    { keys: [isMac() ? "⌘" : "Ctrl", "K"], does: say.search },
    { keys: ["/"], does: say.list },
    { keys: ["?"], does: say.help },
    { keys: ["Esc"], does: say.close },
    ...goes(false),
  ];
  const inCluster = goes(true);
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>{say.title}</strong>} size={520}>
      <Keys title={say.everywhere} rows={everywhere} />
      {inCluster.length > 0 && <Keys title={say.inCluster} rows={inCluster} />}
      <p className="ps-muted" style={{ fontSize: "0.75rem", margin: "10px 0 0" }}>
        {say.typing}
      </p>
    </Modal>
  );
}

function Keys({ title, rows }: { title: string; rows: Row[] }) {
  return (
    <>
      <h3 className="ps-caption" style={{ margin: "12px 0 6px" }}>
        {title}
      </h3>
      <dl className="ps-keys">
        {rows.map((row) => (
          <Fragment key={row.does}>
            <dt>
              {row.keys.map((key, at) => (
                <Fragment key={key}>
                  {at > 0 && <span className="ps-muted"> {row.isSequence ? say.then : "+"} </span>}
                  <kbd>{key}</kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{row.does}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

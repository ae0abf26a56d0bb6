import type { ReactNode } from "react";
import { exactly, inWords, type Measure } from "@/lib/quantities";
import { words } from "@/words/parts";
import { Hint } from "./hint";

const say = words.quantity;

interface QuantityProps {
  /** What is measured, which is its unit. */
  of: Measure;
  /** Null and NaN: not known. */
  value: number | null | undefined;
  /** Shown for what is not known. */
  none?: ReactNode;
  /** What else is true of it, said behind the exact value. */
  note?: string;
  /** A key figure: the exact value also shows for those who have no pointer. */
  isKey?: boolean;
  className?: string;
}

/** A measured number as people read it, exact on hover. */
export function Quantity({ of, value, none, note, isKey = false, className }: QuantityProps) {
  if (value === null || value === undefined || Number.isNaN(value))
    return <>{none ?? <span className="ps-muted">–</span>}</>;
  const exact = [exactly(of, value), note].filter(Boolean).join("; ");
  if (isKey) return <Exact text={exact}>{inWords(of, value)}</Exact>;
  return (
    <span title={exact} data-exact={exact} className={className}>
      {inWords(of, value)}
    </span>
  );
}

/** Words with their exact value under the pointer, the focus and the finger. */
export function Exact({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Hint label={text}>
      <button
        type="button"
        className="ps-exact"
        data-exact={text}
        // Safari gives the focus to no button that is tapped.
        onClick={(event) => event.currentTarget.focus()}
      >
        {children}
      </button>
    </Hint>
  );
}

interface KeptForProps {
  /** As Kafka has it: below 0 is for ever, null not known. */
  ms: number | null;
  none?: ReactNode;
  isKey?: boolean;
}

/** A retention. */
export function KeptFor({ ms, none = say.anUnknownTime, isKey }: KeptForProps) {
  if (ms !== null && ms < 0) return <span title={say.retentionMs(ms)}>{say.forEver}</span>;
  return <Quantity of="spanMs" value={ms} none={none} isKey={isKey} />;
}

/** A number of a reading by its name (`lag_s`) or its unit, exact on hover where its words hide that. */
export function Reading({ words, exact }: { words: string; exact: string | null }) {
  return exact === null ? (
    <>{words}</>
  ) : (
    <span title={exact} data-exact={exact}>
      {words}
    </span>
  );
}

/** What the service judges groups by where nobody set anything. */
export const DEFAULT_TARGET = { seconds: 60, share: 0.99 };

/** How late a group may be, and for how much of the time. */
export function TargetWords({ seconds, share }: { seconds: number; share: number }) {
  return <>{say.target(<Quantity of="span" value={seconds} />, <Quantity of="preciseShare" value={share} />)}</>;
}

/** What the service says of hosts by a code, in the language that is shown; a code that it has and this console does not
 * leaves its own sentence. */
import { words as names } from "@/words";
import { words } from "@/words/host-said";
import { inTurn as allInTurn, put as filledIn, type Sentences } from "./said";
import type { Params, Phrases } from "./templates";
import type { HostMove, HostPlan, HostRefusal, PlatformHost, SaidPart } from "./types";

const SUMMARIES: Sentences = words.summaries;
const REFUSALS: Sentences = words.refusals;
const NOWHERE: Sentences = words.nowhere;
const PLACED: Sentences = words.placed;
const PHRASES: Phrases = { kind: names.kinds };
const WAITING: Sentences = words.waiting;

const put = (sentences: Sentences, code: string | null, params: Params, text: string): string =>
  filledIn(sentences, code, params, text, PHRASES);

const inTurn = (sentences: Sentences, parts: readonly SaidPart[]): string => allInTurn(sentences, parts, PHRASES);

/** What an act on a host does. */
export const hostSummary = (plan: Pick<HostPlan, "summary" | "summary_code" | "summary_params">): string =>
  put(SUMMARIES, plan.summary_code, plan.summary_params, plan.summary);

/** Why an act on a host cannot be done now. */
export const refusalText = (row: Pick<HostRefusal, "text" | "text_code" | "params">): string =>
  put(REFUSALS, row.text_code, row.params, row.text);

/** Why a broker would go where it would go, or why nowhere. */
export const moveText = (row: HostMove): string =>
  row.target_host_id === null
    ? inTurn(NOWHERE, row.why_nowhere_parts)
    : put(PLACED, row.reason_code, row.reason_params, row.reason ?? "");

type Taking = Pick<PlatformHost, "takes_none_because" | "takes_none_because_code" | "takes_none_because_params">;

/** Why a host gets no new brokers; null where it does. */
export const takesNoneText = (host: Taking): string | null =>
  host.takes_none_because === null
    ? null
    : put(NOWHERE, host.takes_none_because_code, host.takes_none_because_params, host.takes_none_because);

interface Waits {
  waiting_for: string | null;
  waiting_for_parts: readonly SaidPart[];
}

/** Why the next broker or cluster is not begun yet; what an earlier version kept is its own text. Null: nothing is in the way. */
export const waitingText = ({ waiting_for: text, waiting_for_parts: parts }: Waits): string | null =>
  parts.length === 0 ? text : inTurn(WAITING, parts);

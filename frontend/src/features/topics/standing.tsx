import { Status, type Tone } from "@/components/status";
import type { TransactionStanding } from "@/lib/types";
import { words } from "@/words/topics";

const say = words.standing;

const SAID: Record<TransactionStanding, { tone: Tone; label: string; hint: string }> = {
  open: { tone: "run", label: say.open, hint: say.openHint },
  unknown: {
    tone: "muted",
    label: say.unknown,
    hint: say.unknownHint,
  },
  late: {
    tone: "warn",
    label: say.late,
    hint: say.lateHint,
  },
  hanging: { tone: "bad", label: say.hanging, hint: say.hangingHint },
};

/** How an open transaction stands. */
export const Standing = ({ standing }: { standing: TransactionStanding }) => <Status {...SAID[standing]} />;

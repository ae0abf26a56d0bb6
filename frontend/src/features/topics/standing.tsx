import { Status, type Tone } from "@/components/status";
import type { TransactionStanding } from "@/lib/types";

const SAID: Record<TransactionStanding, { tone: Tone; label: string; hint: string }> = {
  open: { tone: "run", label: "open", hint: "Its coordinator has it, and its timeout is not over." },
  unknown: {
    tone: "muted",
    label: "open, not known whose",
    hint: "Not every transaction coordinator could be asked.",
  },
  late: {
    tone: "warn",
    label: "past its timeout",
    hint: "Its coordinator has it, and should have ended it by now.",
  },
  hanging: { tone: "bad", label: "hanging", hint: "No coordinator has it: nobody will end it." },
};

/** How an open transaction stands. */
export const Standing = ({ standing }: { standing: TransactionStanding }) => <Status {...SAID[standing]} />;

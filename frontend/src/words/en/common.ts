import { rich, type Slot } from "../rich";
import { number } from "./grammar";

/** What many pages say alike: that something is not there, failed, old or awaited. */
export const common = {
  pageNotFound: "Page not found",
  pageNotFoundWhy: "The address may be mistyped, or what it named has been deleted.",
  toOverview: "Go to the overview",
  tryAgain: "Try again",
  loading: "Loading",
  close: "Close",
  copy: "Copy",
  showWhatIsTyped: "Show what is typed",
  copied: "Copied",
  justNow: "just now",
  notKnown: "not known",
  /** Signs of units, behind their number. */
  units: { days: "d", hours: "h", minutes: "m", seconds: "s", milliseconds: "ms" },
  magnitudes: { thousands: "k", millions: "M", billions: "B", trillions: "T" },
  ago: (span: string) => `${span} ago`,
  fromNow: (span: string) => `in ${span}`,
  request: (id: string) => `request ${id}`,
  part: {
    asItWas: (time: Slot) => rich`Shown as it was ${time}.`,
    asItWasBecause: (time: Slot, reason: string) => rich`Shown as it was ${time}: ${reason}`,
    unavailable: "This part is unavailable right now",
    notSent: "The server did not send it.",
    restIsFine: "The rest of the page is not affected; it is asked for again every few seconds.",
  },
  list: {
    notReadAgain: "Shown as it was: it could not be read again.",
    cut: (amount: number) => `Only the newest ${number(amount)} are shown; the REST API has the rest.`,
  },
  errors: {
    cancelled: "Request cancelled",
    unreachable: "The console could not reach its server",
    unreachableWhy: "The request did not get an answer. Check the connection; nothing is known about its outcome.",
    unexpected: "Unexpected error in the console",
    notSignedIn: "You are not signed in yet",
    operationUnread: "The operation cannot be read right now",
  },
} as const;

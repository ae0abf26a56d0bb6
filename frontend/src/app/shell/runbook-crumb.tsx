import { runbookTitle } from "@/lib/rule-names";

/** The runbook's title; loaded with its page, so that the first view has no titles of runbooks. */
export default function RunbookCrumb({ id }: { id: string }) {
  return <>{runbookTitle(id)}</>;
}

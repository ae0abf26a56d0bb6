/** Parts of the page of users and ACLs, as `samples` has the rest. */
import { AT } from "./samples";

const read = { as_of: AT, stale_reason: null };
const counted = (matched: number) => ({ page: 1, size: 50, matched, total: matched });

export const quotasPage = (...data: object[]) => ({ ...counted(data.length), data });
/** Nothing was changed outside. */
export const noDrift = () => ({ ...quotasPage(), users: read, acls: read, under_way: [], changed_users: [] });

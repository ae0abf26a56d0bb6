/** Why what is not as it was left is not mended by a plan, or not known in full, by the code of the sentence, as templates
 * (`lib/templates.ts`): a test holds this to the service's. */
export const driftReasons = {
  problems: {
    "broker-gone": "Broker {brokers}, on which replicas were, is not in the cluster.",
    "by-reassignment": "How many replicas there are is for the next reassignment to say.",
    "by-user-operation": "The next operation on this user says what it has.",
    "no-fewer-partitions": "Partitions can be added, never removed.",
    "passwords-not-kept": "Passwords are not kept: create the user again, or replace its password.",
    "set-at-start": "Brokers read it when they start, from what this service writes: change it by a plan.",
    "too-many": "More than {most} partitions differ: make plans of parts of them.",
    "values-differ": "The brokers have different values: there is not one to take over.",
  },
  unread: {
    "not-read": "The audit logs could not be read: {reason}",
    "not-whole": "Of broker {brokers} not all of the audit log could be read.",
    "not-yet": "Nobody has looked into it yet.",
    "of-others": "Its brokers are run by others, whose audit logs are theirs.",
  },
};

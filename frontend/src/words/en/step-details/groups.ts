/** What steps say that change groups and where they stand. */
export const groups = {
  "group/known": "the coordinator still knows it",
  "group/gone": "gone",
  "group/gone-already": "it is gone already",
  "group/taken": "the coordinator took it",
  "group/members-again": "the group has members again",
  "offsets/as-planned": "{partitions:one=# partition|other=# partitions} as planned",
  "offsets/committed": "{committed} committed, {removed} removed",
  "offsets/not-seen": "{partitions:one=# partition|other=# partitions} not seen yet",
  "offsets/differ": "{partition} reads {found:unknown=no offset}, planned {planned:unknown=no offset}",
};

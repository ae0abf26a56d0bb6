/** What steps of several areas say in the same words. */
export const shared = {
  "back/as-before": "as before",
  "adopted/unchanged": "nothing is changed at the brokers",
  partitions: "{partitions:one=# partition|other=# partitions}",
};

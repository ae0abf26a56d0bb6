/** What steps of every kind may say: how results are read back, and what leads in other parts. */
export const common = {
  "as-it-came": "{said}",
  "database/silent": "the database did not answer: {reason}",
  "lead/brokers": "{count:one=broker|other=brokers} {brokers}:",
  "lead/unknown": "unknown:",
  "read-back/again": "asked again",
  "read-back/as-planned": "read back as planned",
  "read-back/asked": "asked {asked} of {brokers:one=# broker|other=# brokers} so far",
  "read-back/none-live": "no broker is live",
  "read-back/refused": "{count:one=broker|other=brokers} {brokers} refused ({error})",
  "read-back/silent": "{count:one=broker|other=brokers} {brokers} did not answer",
};

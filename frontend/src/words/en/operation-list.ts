export const operationList = {
  apiKey: (name: string) => `API key ${name}`,
  operation: "Operation",
  on: "On",
  state: "State",
  by: "By",
  took: "Took",
  started: "Started",
  progress: "Progress",
  operations: "Operations",
  noOperationsYet: "No operations yet",
  everyChangeRunsAsAn:
    "Every change runs as an operation: planned, confirmed, carried out in steps, verified, and most can be undone.",
} as const;

import { rich, type Slot } from "../rich";

export const objectives = {
  deleteObjective: {
    theObjectiveWasDeleted: "The objective was deleted.",
    deleteTheObjective: "Delete the objective",
    deleteWord: "Delete",
    whatItCoversIsJudged: (target: Slot) =>
      rich`What it covers is judged by the next wider objective, or by the default: ${target}.`,
  },
  kept: {
    howTheyAreKept: "How they are kept",
    clusterOfTheGroups: "Cluster of the groups",
    chooseACluster: "Choose a cluster",
    thereIsNoClusterYet: "There is no cluster yet",
    groupsAreJudgedOnThe: "Groups are judged on the clusters that this tenant has.",
    clusterNotFound: "Cluster not found",
    theAddressNamesWhichIs: (named: Slot) =>
      rich`The address names ${named}, which is none of the clusters that you may see.`,
    itNeedsWindowsInWhich: "It needs windows in which a group's time lag is known.",
  },
  objectivesPage: {
    setByThisTenant: "Set by this tenant",
    lagObjectives: "Lag objectives",
    howLateConsumerGroupsMay: (target: Slot) =>
      rich`How late consumer groups may be, and how fast they use up the time for which they may. Where nothing is set: ${target}.`,
    setAnObjective: "Set an objective",
  },
  setTable: {
    cluster: (clusterId: string) => `cluster ${clusterId}`,
    covers: "Covers",
    objective: "Objective",
    set: "Set",
    by: (createdBy: string) => `by ${createdBy}`,
    actions: "Actions",
    actionsForTheObjectiveOf: (objective: string) => `Actions for the objective of ${objective}`,
    change: "Change",
    deleteWord: "Delete",
    setObjectives: "Set objectives",
    nothingIsSet: "Nothing is set",
    everyGroupIsJudgedBy: (target: Slot) => rich`Every group is judged by the default: ${target}.`,
  },
} as const;

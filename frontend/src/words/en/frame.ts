import { rich, type Slot } from "../rich";

export const frame = {
  accountMenu: {
    account: "Account",
    profileAndPassword: "Profile and password",
    coloursOfTheSystem: "Colours of the system",
    restApiDescription: "REST API description",
    signOut: "Sign out",
  },
  runningOperations: {
    running: (running: number) => `${running} running`,
    changesArriveAsTheyHappen: "Changes arrive as they happen.",
    theLiveStreamIsDown: "The live stream is down; pages refresh every few seconds instead.",
    live: "Live",
    polling: "Polling",
    theServerDidNotAnswer: "The server did not answer since then; pages go on asking. Ask now.",
    staleSince: (since: string) => `Stale since ${since}`,
  },
  signInAgainDialog: {
    signInAgain: "Sign in again",
    leaveThisPage: "Leave this page",
    continue: "Continue",
    signIn: "Sign in",
    yourSessionHasEndedThis: "Your session has ended. This page stays as it is, with what you have typed.",
    passwordOf: (username: string) => `Password of ${username}`,
    signInWithInA: (provider: string) => `Sign in with ${provider} in a new tab`,
    thenComeBackAndContinue: (provider: Slot) => rich`${provider}, then come back and continue.`,
  },
  tenantSwitch: {
    tenant: "Tenant",
  },
  userMenu: {
    account: "Account",
    useLightColours: "Use light colours",
    useDarkColours: "Use dark colours",
  },
} as const;

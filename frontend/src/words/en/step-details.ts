import { common } from "./step-details/common";

/** What steps of operations say, by the code of each sentence, as templates (`lib/templates.ts`): a test holds this to the
 * service's. */
export const stepDetails = {
  /** Between two sentences. */
  between: "; ",
  sentences: { ...common },
};

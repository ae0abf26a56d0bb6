import { access } from "./step-details/access";
import { brokers } from "./step-details/brokers";
import { clusters } from "./step-details/clusters";
import { common } from "./step-details/common";
import { failures } from "./step-details/failures";
import { groups } from "./step-details/groups";
import { reassignments } from "./step-details/reassignments";
import { remains } from "./step-details/remains";
import { rolls } from "./step-details/rolls";
import { shared } from "./step-details/shared";
import { topics } from "./step-details/topics";

/** What steps of operations say, what they fail with and what operations leave, by the code of each sentence, as templates (`lib/templates.ts`): a test holds this to the
 * service's. */
export const stepDetails = {
  /** Between two sentences. */
  between: "; ",
  /** Before one that says who says the sentence before it. */
  beforeTail: ", ",
  sentences: {
    ...access,
    ...brokers,
    ...clusters,
    ...common,
    ...failures,
    ...groups,
    ...reassignments,
    ...remains,
    ...rolls,
    ...shared,
    ...topics,
  },
};

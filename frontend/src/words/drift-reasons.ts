import { driftReasons } from "./en/drift-reasons";
import { shown } from "./shown";

/** Why a difference is not mended by a plan, or who made it is not known in full; where differences are shown. */
export const words = shown("driftReasons", driftReasons);

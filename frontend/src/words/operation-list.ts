import { operationList } from "./en/operation-list";
import { shown } from "./shown";

/** Of their own: the first view lists operations, and shows none of their plans. */
export const words = shown("operationList", operationList);

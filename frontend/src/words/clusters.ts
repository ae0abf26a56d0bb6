import { clusters } from "./en/clusters";
import { shown } from "./shown";

export const words = shown("clusters", clusters);

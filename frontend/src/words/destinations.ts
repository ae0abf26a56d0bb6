import { destinations } from "./en/destinations";
import { shown } from "./shown";

export const words = shown("destinations", destinations);

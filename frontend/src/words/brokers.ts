import { brokers } from "./en/brokers";
import { shown } from "./shown";

export const words = shown("brokers", brokers);

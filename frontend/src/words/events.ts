import { events } from "./en/events";
import { shown } from "./shown";

export const words = shown("events", events);

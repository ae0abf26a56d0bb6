import { messages } from "./en/messages";
import { shown } from "./shown";

export const words = shown("messages", messages);

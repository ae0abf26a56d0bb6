import { topicSettings } from "./en/topic-settings";
import { shown } from "./shown";

export const words = shown("topicSettings", topicSettings);

import { connect } from "./en/connect";
import { shown } from "./shown";

export const words = shown("connect", connect);

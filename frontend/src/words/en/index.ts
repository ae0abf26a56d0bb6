/** English, in which the console is written first. */
export { alerts } from "./alerts";
export { analytics } from "./analytics";
export { audit } from "./audit";
export { common } from "./common";
export { connect } from "./connect";
export { destinations } from "./destinations";
export { events } from "./events";
export { insights } from "./insights";
export { kinds } from "./kinds";
export { navigation } from "./navigation";
export { objectives } from "./objectives";
export { operations } from "./operations";
export { palette } from "./palette";
export { platform } from "./platform";
export { runbooks } from "./runbooks";
export { statuses } from "./statuses";
export { usage } from "./usage";

import { notifications } from "@mantine/notifications";
import { toProblem } from "./problem";

/** Says in a corner what a button could not do, where there is no form that would. */
export function showProblem(error: unknown): void {
  const { title, detail } = toProblem(error);
  notifications.show({ color: "red", title, message: detail ?? "" });
}

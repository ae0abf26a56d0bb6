import { grammar } from "../grammar";

export const { number, count, exact } = grammar("en-US");

import { grammar } from "../grammar";

export const { number, count } = grammar("en-US");

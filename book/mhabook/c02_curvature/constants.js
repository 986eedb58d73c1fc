import { asking, filled } from "livegrad/live/engine/models.js";
import { program } from "./program.js";

// Constants of Proposition 1 of a multi-head model, by the names of their entries: functions of {theta}.
export const constantsOf = ({ n, T, d, heads, X }) => asking(() => filled(program([heads, d, T, n]), { X }));

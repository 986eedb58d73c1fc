import { asking, filled } from "mhalib/live/engine/models.js";
import { program } from "./program.js";

// The alignment of a multi-head model with a planted head, in "W" or in "U": functions of {theta}.
export const alignment = ({ T, d, heads }, planted) =>
  asking(() => filled(program([heads, d, T]), { plantedW: planted.W, plantedU: planted.U }));

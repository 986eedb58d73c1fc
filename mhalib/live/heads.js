import { arrays, mixture } from "./engine/data.js";
import { multihead } from "./engine/multihead.js";
import { normal, zeros } from "./engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

export default liveFigure({ datasets: { arrays, mixture }, starts: { zeros, normal }, models: { multihead } });

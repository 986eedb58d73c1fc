import { regression, regressionData } from "mhalib/live/engine/regression.js";
import { liveFigure } from "mhalib/live/figure.js";
import { sideBySide, sideBySideStart } from "./side_by_side.js";

// The chosen rule, and plain descent from the same start on the same tokens.
const descent = ({ instances: [data] }, values) =>
  sideBySide(
    ["chosen", "plain"].map((name) => {
      const decides = name === "chosen",
        rule = decides ? values : { optimizer: "gd", lr: values.plain_lr, share: 1 };
      return { name, decides, data, model: regression(data), values: rule, instance: 0 };
    }),
  );

export default liveFigure({
  datasets: { regression: regressionData },
  starts: { side_by_side: sideBySideStart },
  models: { descent },
});

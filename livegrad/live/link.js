import { leftOut, settingsOf, valueOf, written } from "./address.js";

// The settings of a figure as the end of an address: #name?lr=0.3&H=16.

export const linkOf = ({ name, controls }, values) =>
  `#${name}?${written(controls.map((control) => [control.name, values[control.name]]))}`;

// {values, left} of an address that is meant for this figure, `left` a sentence on what it does not have; null if the
// address is meant for another. Without a name it is meant for whom it sets, and for a figure that stands alone.
export function readLink({ name, controls, alone }, hash) {
  const labels = new Map(controls.map((control) => [control.name, control.label]));
  const offered = (key, text) => {
    if (text === undefined) return key === name || undefined;
    const control = controls.find((one) => one.name === key);
    return control && valueOf(control.values, text);
  };
  const told = settingsOf(hash, offered),
    { place, values, left } = told;
  if (place ? place !== name : !values.size && !(alone && left.length)) return null;
  return { values: Object.fromEntries(values), left: leftOut(told, labels, "this figure") };
}

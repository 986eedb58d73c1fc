// The settings of a figure as the end of an address: #name?lr=0.3&H=16.

export function linkOf({ name, controls }, values) {
  const set = new URLSearchParams(controls.map((control) => [control.name, String(values[control.name])]));
  return `#${name}?${set}`;
}

// {values} of an address that is meant for this figure, {wrong: a sentence} where it sets what the figure does not have,
// null if the address is meant for another. Without a name, as in a view of one figure alone, it is meant for this one.
export function readLink({ name, controls }, hash) {
  const [whom, set] = hash.replace(/^#/, "").split("?");
  if (whom ? whom !== name : set === undefined) return null;
  const values = {};
  for (const [key, text] of new URLSearchParams(set ?? "")) {
    const control = controls.find((one) => one.name === key),
      value = control?.values.find((one) => String(one) === text);
    if (value === undefined) return { wrong: `The link sets ${words(key, control, text)}. Nothing is set.` };
    values[key] = value;
  }
  return { values };
}

const words = (key, control, text) =>
  control
    ? `${control.label} to “${text.slice(0, 20)}”, which is not offered`
    : `“${key.slice(0, 20)}”, which this figure does not have`;

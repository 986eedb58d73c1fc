import globals from "globals";

const rules = {
  "max-lines-per-function": ["error", { max: 40, skipBlankLines: true, skipComments: true }],
  "no-unused-vars": ["error", { args: "after-used" }],
  "no-undef": "error",
  eqeqeq: "error",
  "prefer-const": ["error", { destructuring: "all" }],
};
// `linked` is the function that livegrad/live/modules.py makes of all modules of a widget.
const named = { ...globals.browser, linked: "readonly" };

export default [
  { ignores: ["**/vendor/**", "{livegrad,mhalib,book/mhabook}/live/programs/**", "book/mhabook/*/program*.js", "**/_build/**", ".venv/**"] },
  { files: ["{livegrad,mhalib}/**/*.js", "book/mhabook/**/*.js"], languageOptions: { sourceType: "module", globals: named }, rules },
  { files: ["book/_static/*.js"], languageOptions: { sourceType: "script", globals: { ...globals.browser, Plotly: "readonly", Reveal: "readonly", RevealNotes: "readonly" } }, rules },
];

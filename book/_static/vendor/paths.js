// Tells require.js that the widget modules, and the fonts beside them, are here: else they would be asked of a CDN.
(() => {
  const here = new URL(".", document.currentScript.src).href;
  const manager = here + "html-manager/embed-amd";
  const modules = ["base", "base7", "controls", "controls7", "html-manager", "html-manager/dist/libembed-amd"];
  const paths = Object.fromEntries(modules.map((name) => ["@jupyter-widgets/" + name, manager]));
  requirejs.config({ paths: { anywidget: here + "anywidget", ...paths } });
})();

// The widgets' labels ask for mathematics in the words of MathJax 2; the book has MathJax 3.
document.addEventListener("DOMContentLoaded", () => {
  if (!window.MathJax) return;
  const typeset = ([, , label]) => MathJax.startup.promise.then(() => MathJax.typesetPromise([label]));
  MathJax.Hub = { Queue: typeset };
});

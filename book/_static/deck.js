// The slides of a week (book/_ext/kit.py). A slide whose words need more room than it has gets smaller letters.
const LEAST = 55; // percent

function fit(slide) {
  const room = Reveal.getConfig().height;
  for (let size = 100; size > LEAST && slide.scrollHeight > room; size -= 3) slide.style.fontSize = `${size - 3}%`;
}

// The keys come back to the slides when one is left, and a live figure hands on what it does not use
// (livegrad/live/slide_keys.js).
addEventListener("message", ({ data, source }) => {
  const isOurs = [...document.querySelectorAll("iframe")].some((frame) => frame.contentWindow === source);
  if (isOurs && data?.key) document.dispatchEvent(new KeyboardEvent("keydown", { ...data, bubbles: true }));
});

Reveal.on("ready", () => fit(Reveal.getCurrentSlide()));
Reveal.on("slidechanged", ({ currentSlide }) => {
  fit(currentSlide);
  document.activeElement.blur();
  window.focus();
});
Reveal.on("pdf-ready", async () => {
  await document.fonts.ready;
  const frames = [...document.querySelectorAll("iframe")];
  await Promise.all(
    frames.map((frame) => {
      const loaded = new Promise((done) => frame.addEventListener("load", done));
      frame.src = frame.getAttribute("src") ?? frame.dataset.src;
      return loaded;
    }),
  );
  document.querySelectorAll(".pdf-page > section").forEach(fit);
  document.body.dataset.printable = "yes";
});

Reveal.initialize({
  width: 1280,
  height: 720,
  margin: 0,
  center: false,
  hash: true,
  slideNumber: "c/t",
  transition: "none",
  pdfMaxPagesPerSlide: 1,
  preloadIframes: true, // a live figure keeps its settings while the slides beside it are shown
  plugins: [RevealNotes],
});

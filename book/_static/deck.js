// The slides of a week (book/_ext/kit.py). The letters of a slide are as large as its room lets them be: those of one
// with few words grow, those of one with many shrink.
const LEAST = 55, // percent
  GREATEST = 130;

// Its padding is not for words: page number, link and arrows stand there.
function isFull(slide) {
  const parts = [...slide.children].filter((part) => !part.matches(".foot, .notes")),
    end = Math.max(...parts.map((part) => part.offsetTop + part.offsetHeight));
  return (
    end > slide.clientHeight - parseFloat(getComputedStyle(slide).paddingBottom) ||
    slide.scrollWidth > slide.clientWidth
  );
}

function fit(slide) {
  const asks = slide.matches(".question") && !slide.querySelector(".mha-idea"),
    isOfWords = asks || slide.matches(".statement, .text, .guesses, .seen");
  let size = isOfWords ? GREATEST : 100;
  slide.style.fontSize = `${size}%`;
  while (size > LEAST && isFull(slide)) {
    size -= 3;
    slide.style.fontSize = `${size}%`;
  }
}

// The keys come back to the slides when one is left, and a live figure hands on what it does not use
// (livegrad/live/on_slide.js).
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
  pdfSeparateFragments: false, // a theorem is built up on a screen alone
  preloadIframes: true, // a live figure keeps its settings while the slides beside it are shown
  plugins: [RevealNotes],
});

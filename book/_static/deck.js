// The slides of a week (book/_ext/kit.py). Letters have one size. A slide on which they do not fit gives up room around its
// formulas, then takes smaller letters, and then gives up the words that lead to it: the notes have them.
const SMALLER = 24; // pixels, of 720

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
  const leads = [...slide.querySelectorAll(".lead")];
  for (const lead of leads) lead.hidden = false;
  slide.style.fontSize = "";
  slide.classList.remove("tight");
  // A picture that opens a chapter takes the room that its words leave.
  for (let high = 460; high > 200 && slide.matches(".title, .question") && isFull(slide); high -= 20)
    slide.style.setProperty("--high", `${high}px`);
  if (isFull(slide)) slide.classList.add("tight");
  if (isFull(slide)) {
    slide.style.fontSize = `${SMALLER}px`;
    slide.classList.remove("tight");
    slide.classList.toggle("tight", isFull(slide));
  }
  for (const lead of leads) lead.hidden = isFull(slide);
}

// A live figure starts when its slide is near, so that the first slide is there at once; then it stays, with its settings.
// Without data-src reveal.js leaves it alone.
const NEAR = 2;
function start(frame) {
  const { src } = frame.dataset;
  if (!src) return;
  delete frame.dataset.src;
  if (!frame.hasAttribute("src")) frame.src = src;
}
function startNear() {
  const here = Reveal.getIndices().h,
    near = Reveal.getSlides().slice(here, here + NEAR + 1);
  for (const slide of near) slide.querySelectorAll("iframe").forEach(start);
}

// The keys come back to the slides when one is left, and a live figure hands on what it does not use
// (livegrad/live/on_slide.js).
addEventListener("message", ({ data, source }) => {
  const isOurs = [...document.querySelectorAll("iframe")].some((frame) => frame.contentWindow === source);
  if (isOurs && data?.key) document.dispatchEvent(new KeyboardEvent("keydown", { ...data, bubbles: true }));
});

// Printed from the browser, every slide is a page (kit.css), and all that is built up on a screen is there. A figure that has
// not started is a picture.
addEventListener("beforeprint", () => {
  if (Reveal.isPrintView()) return;
  document.documentElement.classList.add("on-paper", "print-pdf"); // without the second, reveal.js has styles for paper
  document.querySelectorAll(".slides > section").forEach(fit);
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("on-paper", "print-pdf");
  fit(Reveal.getCurrentSlide());
});

Reveal.on("ready", () => {
  fit(Reveal.getCurrentSlide());
  startNear();
});
Reveal.on("slidechanged", ({ currentSlide }) => {
  fit(currentSlide);
  startNear();
  document.activeElement.blur();
  window.focus();
});
Reveal.on("pdf-ready", async () => {
  await document.fonts.ready;
  const frames = [...document.querySelectorAll("iframe[data-src]")];
  await Promise.all(
    frames.map((frame) => {
      const loaded = new Promise((done) => frame.addEventListener("load", done));
      start(frame);
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
  controlsTutorial: false, // no arrow that moves
  pdfMaxPagesPerSlide: 1,
  pdfSeparateFragments: false, // a theorem is built up on a screen alone
  plugins: [RevealNotes],
});

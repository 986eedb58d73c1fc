// The slides of a week (book/_ext/kit.py). A slide whose words need more room than it has gets smaller letters.
const LEAST = 55; // percent

function fit(slide) {
  const room = Reveal.getConfig().height;
  for (let size = 100; size > LEAST && slide.scrollHeight > room; size -= 3) slide.style.fontSize = `${size - 3}%`;
}

const fitShown = () => fit(Reveal.getCurrentSlide());

Reveal.on("ready", fitShown);
Reveal.on("slidechanged", fitShown);
Reveal.on("pdf-ready", async () => {
  await document.fonts.ready;
  for (const frame of document.querySelectorAll("iframe[data-src]")) {
    frame.src = frame.dataset.src;
    await new Promise((done) => frame.addEventListener("load", done));
  }
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
  plugins: [RevealNotes],
});

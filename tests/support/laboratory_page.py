"""The laboratory on an open page, alone or in its chapter, and what a reader does there."""

from pathlib import Path
from tempfile import TemporaryDirectory

from visits import frames

PAGE = "book/laboratory/17_laboratory.html"
SETTLED = """() => ["done", "failed"].includes(document.querySelector(".mha-laboratory")?.dataset.state)"""
MOVES = """async (count) => {
  let seed = 1;
  const channel = new MessageChannel();
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const controls = [...document.querySelectorAll(".mha-laboratory [data-control]")];
  for (const group of document.querySelectorAll(".mha-group")) group.open = true;
  const visible = () => controls.filter((one) => one.offsetParent);
  for (let k = 0; k < count; k++) {
    const all = visible(), one = all[random(all.length)];
    if (one.type === "checkbox") one.click();
    else if (one.tagName === "SELECT") {
      const open = [...one.options].filter((option) => !option.disabled);
      one.value = open[random(open.length)].value;
      one.dispatchEvent(new Event("change"));
    } else {
      one.value = random(Number(one.max) + 1);
      one.dispatchEvent(new Event("input"));
    }
    await new Promise((go) => { channel.port1.onmessage = go; channel.port2.postMessage(null); }); // a task each
    if (k % 5 === 0) await new Promise((go) => requestAnimationFrame(go));
  }
}"""


class Lab:
    """The laboratory on an open page, in its chapter or alone, or in a frame of one."""

    def __init__(self, page):
        self.page, self.root = page, page.locator(".mha-laboratory")
        self.note, self.summary = (
            self.root.locator(".mha-note"),
            self.root.locator(".mha-live-summary"),
        )

    def lines(self):
        return self.root.locator(".mha-lines").text_content()

    def control(self, name):
        """A control, with its group unfolded."""
        control = self.root.locator(f"[data-control={name}]")
        control.evaluate("(one) => { one.closest('.mha-group').open = true; }")
        return control

    def press(self, text):
        self.root.get_by_role("button", name=text, exact=True).click()

    def settle(self):
        frames(self.page, 2)
        self.page.wait_for_function(SETTLED)

    def choose(self, name, text):
        self.control(name).select_option(text)
        self.settle()

    def reset(self):
        self.press("Reset")
        self.settle()

    def saved(self, text):
        with self.page.expect_download() as waiting:
            self.press(text)
        return waiting.value.path().read_bytes()

    def go_to(self, hash):
        self.page.evaluate("(hash) => { window.location.hash = hash; }", hash)
        self.settle()

    def hand_over(self, name, content):
        """Open a file of a folder, as Playwright unpacks bytes in the page, which blocks it; wait
        for the answer."""
        before = self.note.text_content()
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            self.root.locator("input[type=file]").set_input_files(path)
            self.page.wait_for_function(
                "(old) => document.querySelector('.mha-note').textContent !== old", arg=before
            )

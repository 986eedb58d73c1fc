"""For how long the laboratory's page does nothing else, in Chromium: a part of `make latency`.

A task of 200 ms is felt as a freeze. The longest of 1,000 random moves, of the refusal of all
malformed files, and of every file as large as a page opens them, or larger; each four times. How
long a plain loop takes stands beside them, as the machine may be slower or busier than another.
"""

import statistics
import sys
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
from laboratory_page import MOVES, PAGE, SETTLED, Lab  # noqa: E402
from malformed import BAD, LARGEST, OVERSIZED  # noqa: E402

TIMES = 4
WATCH = """
  window.tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
"""
LOOP = """() => {
  const began = performance.now();
  for (let k = 0, x = 0; k < 2e7; k++) x += Math.sqrt(k);
  return performance.now() - began;
}"""


def longest_task(lab, act):
    """Milliseconds of the longest task while it acts; one under 50 counts as none."""
    lab.reset()
    lab.page.wait_for_timeout(500)  # the browser tells of a long task later
    lab.page.evaluate("() => { tasks.length = 0; }")
    act()
    lab.settle()
    lab.page.wait_for_timeout(500)
    return lab.page.evaluate("() => Math.max(0, ...tasks)")


def hand_over(lab, files):
    """Open one after the other."""
    for name, (content, _) in files.items():
        lab.hand_over(name, content)


def acts_of(lab):
    """Label → what is done."""
    acts = {
        "1,000 random moves": partial(lab.page.evaluate, MOVES, 1000),
        f"{len(BAD)} malformed files": partial(hand_over, lab, BAD),
    }
    for name, file in (OVERSIZED | {"large.csv": (LARGEST, "")}).items():
        acts[f"{name}, {len(file[0]) / 1e6:.1f} MB"] = partial(hand_over, lab, {name: file})
    return acts


def measure(browser, site):
    """Print the longest tasks of the laboratory."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH)
    page.goto(f"{site}/{PAGE}")
    page.wait_for_function(SETTLED)
    lab = Lab(page)
    print(
        f"laboratory: longest task, {TIMES} times; a plain loop takes {page.evaluate(LOOP):.0f} "
        f"ms\n{'':<54}{'min':>8}{'p50':>8}{'max':>8}"
    )
    for label, act in acts_of(lab).items():
        found = [longest_task(lab, act) for _ in range(TIMES)]
        print(f"  {label:<52}{min(found):>8.0f}{statistics.median(found):>8.0f}{max(found):>8.0f}")
    page.close()

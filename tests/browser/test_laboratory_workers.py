"""The laboratory and its workers: those that die of a run, hang, or wait for their channel."""

import pytest

from laboratory_page import Lab
from visits import eventually
from widgets import FINISHED, MOUNT

# Workers that do not answer to a run, or die of it.
FATE = """() => {
  const Plain = window.Worker;
  window.fate = "lives";
  window.Worker = class extends Plain {
    constructor(...parts) { super(...parts); window.last = this; }
    die() { this.dispatchEvent(new Event("error", { cancelable: true })); }
    postMessage(message) {
      if (!message.values || fate === "lives") super.postMessage(message);
      else if (fate === "dies") setTimeout(() => this.die());
    }
  };
}"""


@pytest.fixture
def hurried(open_widget):
    """Give a laboratory that waits for a second and a half, not for six, and whose workers have a
    fate.

    A page is opened for each test: one on which every worker died in a run trains by itself until
    it is left.
    """
    page = open_widget(
        "laboratory", change=lambda source: source.replace("PATIENCE = 6000", "PATIENCE = 1500")
    )
    page.evaluate(FATE)
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    return Lab(page)


def test_a_run_that_lasts_is_not_described_by_the_one_before(hurried):
    eventually(hurried.page, lambda: in_a_worker(hurried))
    assert "After 2000 steps" in hurried.summary.inner_text()
    hurried.page.evaluate("() => { window.fate = 'hangs'; }")
    hurried.press("Reset")
    hurried.summary.filter(has_text="Training with these values").wait_for()
    hurried.settle()
    assert "one step takes too long" in hurried.summary.inner_text()


def end_with(lab, fate):
    lab.page.evaluate("(given) => { window.fate = given; }", fate)
    lab.reset()


def done_in(lab, place):
    root = lab.page.locator(".mha-live")
    assert (root.get_attribute("data-state"), root.get_attribute("data-place")) == ("done", place)


def in_a_worker(lab):
    end_with(lab, "lives")
    done_in(lab, "worker")


def test_a_run_that_hangs_every_worker_does_not_come_to_the_page(hurried):
    eventually(hurried.page, lambda: in_a_worker(hurried))
    end_with(hurried, "hangs")
    assert (
        "one step takes too long for a page. Take fewer tokens or heads"
        in hurried.summary.inner_text()
    )
    eventually(hurried.page, lambda: in_a_worker(hurried))


def test_workers_that_died_in_other_runs_are_forgotten(hurried):
    for _ in range(6):
        eventually(hurried.page, lambda: in_a_worker(hurried))
        hurried.page.evaluate("() => last.die()")
    in_a_worker(hurried)


def test_a_run_of_which_workers_die_comes_to_the_page_as_do_all_after_it(hurried):
    end_with(hurried, "dies")
    assert hurried.page.locator(".mha-live").get_attribute("data-state") == "done"
    end_with(hurried, "lives")
    done_in(hurried, "page")


def test_a_worker_does_not_wait_for_its_channel(open_widget):
    """In Safari what a worker sends itself comes by the page, which may be drawing; here it never
    comes."""
    silent = "{ port1: {}, port2: { postMessage() {} } }"
    page = open_widget(
        "laboratory", change=lambda source: source.replace("new MessageChannel()", silent)
    )
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    lab = Lab(page)
    eventually(page, lambda: in_a_worker(lab))

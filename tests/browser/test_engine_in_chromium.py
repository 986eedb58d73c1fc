"""Three runs of the engine in the browser that readers have; the whole table of agreement is run in V8."""

import json

import pytest

from agreement import DIVERGING, RUN, STABLE, UNSTABLE, assert_agrees
from engines import HEADS


@pytest.fixture(scope="module")
def page(chromium):
    """Give an empty page that holds the module of the figure of heads."""
    context = chromium.new_context()
    page = context.new_page()
    page.add_script_tag(content=HEADS.replace("export default", "const engine =") + RUN)
    yield page
    context.close()


@pytest.mark.parametrize("case", [STABLE[-1], UNSTABLE[0], DIVERGING[0]], ids=str)
def test_engine_follows_mhalib_in_chromium(page, case):
    assert_agrees(case, page.evaluate(f"runAll(engine, {json.dumps(case.spec())}, {json.dumps(case.values())})"))

"""The table of agreement once more, in the browser that readers have."""

import json

import pytest

from agreement import RUN, TABLE, assert_agrees
from mhalib.live.face import module


@pytest.fixture(scope="module")
def page(chromium):
    """Give an empty page that holds the engine, with and without the kernel."""
    context = chromium.new_context()
    page = context.new_page()
    source = module().replace("export default", "const live =")
    page.add_script_tag(content=f"""{source}
      {RUN}
      const engines = {{ plain: makeEngine(null), kernel: makeEngine(makeKernel(bytesOf(KERNEL))) }};""")
    assert page.evaluate("makeKernel(bytesOf(KERNEL)) !== null")
    yield page
    context.close()


@pytest.mark.parametrize("engine", ["plain", "kernel"])
@pytest.mark.parametrize("case", TABLE, ids=str)
def test_engine_follows_mhalib_in_chromium(page, case, engine):
    arguments = f"engines.{engine}, {json.dumps(case.spec())}, {json.dumps(case.values())}"
    assert_agrees(case, page.evaluate(f"runAll({arguments})"))

"""The linker of ES modules: one text, in the order of imports, with a scope for each file; other
forms are refused."""

import pytest
from py_mini_racer import MiniRacer

from checks import assert_refused
from livegrad.live.modules import link, widget_module


@pytest.fixture
def written(tmp_path):
    """Give what writes modules, name → lines, and returns the path of the first."""

    def write(**modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.js").write_text(text, "utf-8")
        return tmp_path / f"{next(iter(modules))}.js"

    return write


def exported(entry):
    v8 = MiniRacer()
    v8.eval(link(entry))
    return v8.eval("JSON.stringify(linked())")


def test_a_module_has_what_it_imports(written):
    assert (
        exported(
            written(
                entry='import { double } from "./one.js";\nexport const four = double(2);',
                one="export function double(x) { return 2 * x; }",
            )
        )
        == '{"four":4}'
    )


def test_a_name_may_be_taken_as_another(written):
    assert (
        exported(
            written(
                entry='import { one as a } from "./left.js";\nimport { one } from "./right.js";\n'
                "export const sum = a + one;",
                left="export const one = 1;",
                right="export const one = 2;",
            )
        )
        == '{"sum":3}'
    )


def test_files_keep_their_private_names_apart(written):
    assert (
        exported(
            written(
                entry='import { one } from "./one.js";\nconst hidden = 2;\nexport const sum = hidden + one();',
                one="const hidden = 1;\nexport const one = () => hidden;",
            )
        )
        == '{"sum":3}'
    )


def test_a_module_that_two_import_runs_once(written):
    assert (
        exported(
            written(
                entry='import { a } from "./left.js";\nimport { b } from "./right.js";\nexport const same = a === b;',
                left='import { shared } from "./both.js";\nexport const a = shared;',
                right='import {\n  shared,\n} from "./both.js";\nexport const b = shared;',
                both="export const shared = {};",
            )
        )
        == '{"same":true}'
    )


def test_bytes_are_a_module_in_hexadecimal_digits(written, tmp_path):
    (tmp_path / "kernel.wasm").write_bytes(b"\0asm")
    assert exported(
        written(entry='import { hex } from "./kernel.wasm";\nexport const text = hex;')
    ) == ('{"text":"0061736d"}')


def test_a_package_of_python_is_the_beginning_of_a_path(written):
    entry = written(
        entry='import { mean } from "livegrad/live/engine/matrices.js";\nexport const two = mean([1, 3]);'
    )
    assert exported(entry) == '{"two":2}'


def test_a_widget_has_one_default_export_and_its_function_stands_alone(written):
    text = widget_module(written(entry="const x = 1;\nexport default { render: () => x };"))
    assert text.count("export default") == 1 and text.endswith("export default linked().default;\n")
    v8 = MiniRacer()
    v8.eval(text.replace("export default", "const made ="))
    assert v8.eval("new Function(`${linked}; return linked().default.render();`)()") == 1


@pytest.mark.parametrize(
    "line, words",
    [
        ('import thing from "./one.js";', ["entry.js, line 3", "expected import { name }"]),
        ('import { missing } from "./one.js";', ["entry.js, line 3", "got missing"]),
        ('import { a } from "./two.js";', ["entry.js, line 3", "expected a file, got ./two.js"]),
        (
            'import { a } from "./back.js";',
            ["back.js, line 1", "expected no circle of modules", "./entry.js"],
        ),
        ('import * as one from "./one.js";', ["entry.js, line 3", "expected import { name }"]),
        ('const one = await import("./one.js");', ["entry.js, line 3"]),
        ("export { a };", ["entry.js, line 3", "export function, const or class"]),
        ("export let a = 1;", ["entry.js, line 3"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_form_is_refused_with_its_line(written, line, words):
    entry = written(
        entry=f"// One.\n\n{line}\n",
        one="export const a = 1;",
        back='import { a } from "./entry.js";\nexport const b = a;',
    )
    assert_refused(lambda: link(entry), ValueError, words)


def test_comments_that_stand_alone_stay_in_the_file(written):
    entry = written(
        entry='// Why.\nexport const x = 1; // one\n\n  // Indented.\nexport const y = "// text";'
    )
    assert exported(entry) == '{"x":1,"y":"// text"}'
    assert "Why" not in link(entry) and "Indented" not in link(entry)

"""The room that figures take, and what stands around a live one: as their own JavaScript says it,
which V8 runs here without a browser."""

import json
from pathlib import Path
from typing import Any

from py_mini_racer import MiniRacer

HERE = Path(__file__).parent
FIGURES = HERE.parent / "_static" / "figures.js"
DESK, PHONE = 700, 358  # pixels: how wide the text is


class Rooms:
    """A page in V8 (rooms.js), where one figure after the other is asked; to be used in a ``with``,
    because a V8 that is left open keeps a program from ending with its error."""

    def __init__(self) -> None:
        self.v8 = MiniRacer()
        for file in (HERE / "rooms.js", FIGURES):
            self.v8.eval(file.read_text("utf-8"))
        self.modules: dict[str, str] = {}

    def __enter__(self) -> "Rooms":
        return self

    def __exit__(self, *_: object) -> None:
        self.v8.close()

    def phone_height(self, figure: dict[str, Any]) -> int:
        """How high a still figure is on a phone, where its panels stand one below the other."""
        return self.v8.eval(f"phone({json.dumps(figure)})")

    def around(self, state: dict[str, Any]) -> dict[str, Any]:
        """What stands ``above`` and ``below`` the picture of a live figure, as HTML, and its
        ``heights`` on a desk and on a phone.

        Raises ValueError with what the figure says if it cannot train.
        """
        kept = {name: value for name, value in state.items() if not name.startswith("_")}
        self.v8.eval(f"mount({self._module(state['_esm'])}, {json.dumps(kept)}, {DESK}); 0")
        desk = self._told()
        self.v8.eval(f"resize({PHONE}); 0")
        heights = [desk["height"], self._told()["height"]]
        return {"above": desk["above"], "below": desk["below"], "heights": heights}

    def _module(self, source):
        """The name of a module, once V8 has read it."""
        if source not in self.modules:
            self.modules[source] = name = f"module{len(self.modules)}"
            alone = source.replace("export default", "return")
            self.v8.eval(f"var {name} = (() => {{ {alone} }})(); 0")
        return self.modules[source]

    def _told(self):
        """What the page says when nothing is left to be done."""
        # Between two calls V8 goes on with what was promised.
        while self.v8.eval("turn()"):
            pass
        told = json.loads(self.v8.eval("JSON.stringify(told())"))
        if told["state"] != "done":
            raise ValueError(f"a live figure could not train: {told['below'] or told['state']}")
        return told

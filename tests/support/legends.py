"""A figure as a reader sees it: what is drawn, by the title of its panel and its name in the
legend."""

import numpy as np


def axis_of(layout, trace, letter):
    """The axis along x or y that a trace is drawn on."""
    return layout[f"{letter}axis{(trace.get(f'{letter}axis') or letter)[1:]}"]


def title_over(layout, trace):
    """The title that stands over the panel of a trace: at the left of its upper end, or in the
    middle."""
    left, right = axis_of(layout, trace, "x")["domain"]
    top = axis_of(layout, trace, "y")["domain"][1]
    # where both axes have one unit, a panel may end below its row
    row = min(title["y"] for title in layout["annotations"] if title["y"] > top - 1e-9)
    above = [
        title for title in layout["annotations"] if np.isclose(title["y"], row, rtol=0, atol=1e-9)
    ]

    def off(title):
        # not exact: where both axes have one unit, a panel is narrower than its room
        return min(abs(title["x"] - left), abs(title["x"] - (left + right) / 2))

    over = min(above, key=off)
    assert off(over) < 0.1, f"no title stands over the panel at {left:.2f} to {right:.2f}"
    return over["text"]


def as_drawn(figure):
    """A plotly figure in plain dictionaries, with its numbers as numbers, not packed into bytes."""
    plain = figure.to_plotly_json()
    for trace, own in zip(plain["data"], figure.data, strict=True):
        trace |= {part: own[part] for part in "xyz" if part in trace}
    return plain


def by_name(figure):
    """(title, name) → the traces, in the order in which they are drawn; one without a name is
    called by its type."""
    found = {}
    for trace in figure["data"]:
        if trace.get("visible") is False:
            continue  # a reader's guess, where there is none
        place = title_over(figure["layout"], trace), trace.get("name") or trace["type"]
        found.setdefault(place, []).append(trace)
    return found

"""Sliders over any Python function that returns a figure: ``mha.explore``. The function runs in the kernel.

The folder is not called ``explore``: a submodule of that name would hide the function ``mha.explore``.
"""

import os

from mhalib.exploring.explorer import Explorer


def explore(f, /, **controls):
    """Put sliders on a Python function that returns a plotly figure, and call it again when one of them moves.

    Each keyword names a parameter of ``f`` and says what it may be:

    - ``(min, max)`` or ``(min, max, step)`` of whole numbers is a slider. Without a step, from 1 on and over more than
      a factor of 16, it goes in doublings: ``H=(1, 64)`` is 1, 2, 4, …, 64, and ``H=(1, 64, 1)`` is every number.
    - ``(min, max)`` or ``(min, max, step)`` with a float is a slider. Without a step, with ``min > 0`` and over a
      factor of 100 or more, it is logarithmic: ``lr=(0.01, 10.0)``.
    - A list is a choice: a slider if it holds numbers, else a menu.
    - ``True`` or ``False`` is a checkbox, which starts there.
    - A widget of ipywidgets is used as it is.

    A range or a list starts at the default that ``f`` has for the parameter. Where it has none, or none inside, a
    slider starts in its middle, in the geometric middle if it is logarithmic or doubles, and a menu at its first entry.

    What ``f`` raises at the start values is raised. What it raises later is raised in plain Python; a notebook shows it
    above the last figure.

    Parameters
    ----------
    f : a function of which each parameter has a control or a default. It returns a ``plotly.graph_objects.Figure``
        without frames. Its alt text, ``layout.meta["alt"]``, is shown below it and read out when it changes
    controls : what each parameter may be

    Returns
    -------
    Explorer
        A notebook displays it. A page of the book has no kernel behind it: there the figure at the start values
        stands, and a note names the controls.

    Raises
    ------
    TypeError
        if ``f`` is no function or returns no figure, or if a control is none of the above.
    ValueError
        if ``f`` has no such parameter or one without a control and a default, if a range is reversed, a list empty, or
        the figure has frames.
    ImportError
        if ipywidgets is not installed.

    Examples
    --------
    >>> def wave(k, phase=0.0):
    ...     t = np.linspace(0, 7, 200)
    ...     return mha.plots.curves(t, {"wave": np.sin(k * t + phase)}, log_y=False)
    >>> mha.explore(wave, k=(1, 9), phase=(0.0, 3.1))
    Explorer of wave at k = 5, phase = 0
    """
    explorer = Explorer(f, controls)
    if os.environ.get("MHALIB_EXPLORE") == "ends":  # who runs a notebook to test it asks for this
        explorer.check()
    return explorer

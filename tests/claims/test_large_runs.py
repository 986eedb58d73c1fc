"""What the page large_runs says, held against its stored tables and what its cells leave."""

from collections import namedtuple

import numpy as np

import mhalib as mha
from mhabook.pages.large_runs import costs
from mhalib.models import multihead_workspace
from page import Page
from scripts import load

page = Page("large_runs")
UNQUOTED = {
    "what the code can do, or how long a command takes": (
        "title",
        "gpu-commands: On one CPU",
        "gpu-commands: If memory",
        "gpu-commands: We had",
        "cluster: Two habits",
    ),
    "what a program or a test does": (
        "compared",
        "cluster: A test",
    ),
}


def large(table, least=1e5):
    """Of rows with so many pairs of a sequence and a head, or more: pairs, and seconds a pair."""
    pairs = table["n"] * table["H"]
    return pairs[pairs >= least], table["seconds"][pairs >= least] / pairs[pairs >= least]


def rows(table):
    """The rows of a table, with names."""
    names = ("n", "H", "seconds", "first_loss", "last_loss")
    Row = namedtuple("Row", names)
    return [Row(*values) for values in zip(*(table[name] for name in names), strict=True)]


@page.after(
    "table",
    says=(
        "with ten tokens of dimension eight, from a random initialization, so no two heads are "
        "identical"
    ),
)
def test_one_row_of_sixteen_was_not_run(said, table):
    data = mha.data.tokenized_mixture(n=2)
    *shape, two = said
    assert shape == [*data.X.shape[1:]] and two == 2
    _, _, *rows = (line for line in costs(table).splitlines() if line.startswith("|"))
    assert len(rows) == len(table) + 1 == 16
    assert [row for row in rows if "not run" in row] == ["| 4,096 | 100,000 | not run | not run |"]


@page.after(
    "table",
    says=(
        "With a hundred thousand or more pairs of a sequence and a head, the time is roughly "
        "proportional to $nH$: a step takes about 2.6 microseconds per pair, up to a factor of "
        "two"
    ),
)
def test_a_pair_costs_2_6_microseconds_up_to_a_factor_of_two(said, table):
    hundred, thousand, microseconds, factor = said
    _, pace = large(table, hundred * thousand)
    assert 0.5 * factor < pace.max() / pace.min() < factor
    assert round(1e6 * np.median(pace), 1) == microseconds


@page.after(
    "table",
    says=(
        "For the largest run, these numbers would take 66 gigabytes",
        "So if the arrays of a batch would exceed 256 megabytes",
        "In each run, a step needs less than 350 megabytes in addition to the data and the "
        "parameters",
        "On the GPU, parts and blocks are larger, a gigabyte each, because only large products "
        "use a GPU fully",
    ),
)
def test_memory_stops_growing_below_what_a_whole_pass_would_keep(said, table):
    gigabytes, batch, megabytes = said
    assert batch * 2**20 == multihead_workspace.HELD_BYTES
    assert multihead_workspace.DEVICE_BYTES == 2**30
    pairs, _ = large(table)
    assert 0.9 * megabytes < table["megabytes"].max() < megabytes
    assert round(2 * 8 * 10 * 10 * pairs.max() / 1e9) == gigabytes


@page.after(
    "table",
    says=(
        "Three steps and the loss after them require four passes over the data, which would take "
        "more than an hour on a core of that machine"
    ),
)
def test_the_row_that_was_not_run_would_take_more_than_an_hour(said, table):
    steps, passes = said
    assert steps + 1 == passes and steps == load("book/results/scale.py").STEPS
    _, pace = large(table)
    assert 1 < passes * 4096 * 100_000 * np.median(pace) / 3600 < 2


@page.after(
    "gpu-table",
    says=(
        "Every run with ten thousand or more pairs is faster on the GPU than on the CPU core, "
        "which computes in double precision. Up to two thousand pairs, the CPU is faster"
    ),
)
def test_from_ten_thousand_pairs_on_the_gpu_is_faster_and_up_to_two_thousand_the_cpu(
    on_gpu, said, table
):
    many, few = said
    cpu, gpu = ({(row.n, row.H): row.seconds for row in rows(part)} for part in (table, on_gpu))
    faster = {n * H: gpu[n, H] < cpu[n, H] for n, H in cpu}
    assert many in faster and max(pairs for pairs in faster if pairs < few) > 0.7 * few
    assert {faster[pairs] for pairs in faster if pairs >= many} == {True}
    assert {faster[pairs] for pairs in faster if pairs < few} == {False}


@page.after(
    "gpu-table",
    says=(
        "The smallest steps take 1.7 to 2.8 milliseconds on the GPU, most of which is the overhead",
        "The largest run takes 1.8 seconds per step, or 4 nanoseconds per pair",
        "A step needs up to 2.2 gigabytes",
    ),
)
def test_the_smallest_steps_take_1_7_to_2_8_milliseconds_and_a_pair_four_nanoseconds(on_gpu, said):
    fastest, slowest, seconds, nanoseconds, gigabytes = said
    pairs = on_gpu["n"] * on_gpu["H"]
    small = 1e3 * on_gpu["seconds"][pairs < 2_000]
    assert (round(small.min(), 1), round(small.max(), 1)) == (fastest, slowest)
    assert round(on_gpu["seconds"].max(), 1) == seconds
    assert round(1e9 * on_gpu["seconds"].max() / pairs.max()) == nanoseconds
    assert round(on_gpu["megabytes"].max() / 1e3, 1) == gigabytes


@page.after("gpu-table", says=("the losses before and after three steps agree to within 3e-7"))
def test_where_both_were_run_the_losses_agree_to_3e_7(on_gpu, said, table):
    assert said == [load("book/results/scale.py").STEPS]
    for name in ("first_loss", "last_loss"):
        cpu, gpu = (
            {(row.n, row.H): getattr(row, name) for row in rows(t)} for t in (table, on_gpu)
        )
        assert max(abs(gpu[key] - loss) for key, loss in cpu.items()) < 3e-7


@page.after("torch-agrees")
def test_torch_trains_as_numpy(one, other):
    assert len(one.loss) == len(other.loss) > 1
    assert abs(one.loss - other.loss).max() < 1e-12


@page.after(
    "gpu-networks",
    says=(
        "at full size, with two layers of width 64, on samples of full length",
        "By default, the last command trains for fifty thousand steps",
        "Before it trains on Pathfinder, the command makes 200,000 images",
    ),
)
def test_the_sizes_of_the_networks_and_the_defaults_of_the_command(said):
    layers, width, steps, images = said
    command = load("book/results/large/kernels.py")
    given = command.arguments(["pathfinder", "--out", "none.npz"])
    assert (command.SIZES["layers"], command.SIZES["d"]) == (layers, width)
    assert (given.steps, given.images) == (steps, images)


@page.after(
    "torch-agrees",
    says="if ten thousand runs each return one megabyte, the results take ten gigabytes of its memory",
)
def test_what_many_results_take(said):
    runs, gigabytes = said
    assert runs / 1000 == gigabytes

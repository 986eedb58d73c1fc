"""A sweep on a Dask cluster as two machines form it: a scheduler and two workers that share nothing
but a network."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import joblib
import pytest
from distributed import Client

import mhabook
import swept
from swept import assert_same, started

ROOT = Path(__file__).parents[2]
GRID = {"H": [1, 3], "lr": [0.1, 0.5]}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """The commands of the page on large runs: processes in folders of their own that know one
    address."""
    place = tmp_path_factory.mktemp("cluster")
    path = os.pathsep.join(str(ROOT / part) for part in ("", "book", "tests/support"))
    environment = os.environ | {"PYTHONPATH": path}
    with ExitStack() as stack:

        def start(name, *arguments):
            (place / name).mkdir()
            command = [sys.executable, "-m", "dask", *arguments]
            process = subprocess.Popen(
                command,
                cwd=place / name,
                env=environment,
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)

        start(
            "scheduler",
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(place / "address.json"),
        )
        client = stack.enter_context(
            Client(scheduler_file=str(place / "address.json"), timeout=swept.SECONDS)
        )
        for name in ("one", "two"):
            start(
                name,
                "worker",
                client.scheduler.address,
                "--nthreads",
                "1",
                "--no-dashboard",
                "--no-nanny",
                "--name",
                name,
            )
        client.wait_for_workers(2, timeout=swept.SECONDS)
        yield client


def test_two_machines_make_the_table_of_one(client, tmp_path):
    with joblib.parallel_config("dask"):
        found = mhabook.sweep(swept.marked(swept.trained, tmp_path), GRID, seeds=4)
    with joblib.parallel_config(n_jobs=1):
        assert_same(found, mhabook.sweep(swept.trained, GRID, seeds=4))
    pids = set(client.run(os.getpid).values())
    folders = set(client.run(os.getcwd).values())
    assert len(pids) == len(folders) == 2
    assert {int(path.name.split("-")[1]) for path in (tmp_path / "marks").iterdir()} <= pids
    assert len(started(tmp_path / "marks")) == 16

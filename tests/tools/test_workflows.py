"""The workflows of GitHub: what they run exists, what they may do is little, and a failing lane opens one issue."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in FILES}
JOBS = {f"{name}: {job}": what for name, flow in WORKFLOWS.items() for job, what in flow["jobs"].items()}
TARGETS = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8")))
every_job = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)


def scripts(job):
    """What the steps of a job run, with the commands of a matrix in their place."""
    lanes = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
    for step in job["steps"]:
        for lane in lanes if "run" in step else ():
            yield re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda name, lane=lane: lane[name[1]], step["run"])


def test_there_are_both():
    assert list(WORKFLOWS) == ["book.yml", "weekly.yml"]


@every_job
def test_what_is_run_is_there(job):
    for script in scripts(job):
        assert "${{" not in script, "what an event says is no part of a script"
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        assert set(" ".join(re.findall(r"\bmake ([a-z ]+)", script)).split()) <= TARGETS
        for path in re.findall(r"(?<!\S)\.ci/\w+", script):
            assert os.access(ROOT / path, os.X_OK)


@every_job
def test_a_job_ends_and_names_the_versions_that_it_uses(job):
    assert job["timeout-minutes"] <= 90
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


def test_a_lane_out_of_time_still_reports():
    """A job at its limit is cancelled, and then no step runs; a step at its own fails, and the next says so."""
    job = JOBS["weekly.yml: lane"]
    *_, lane, report = job["steps"]
    assert report["if"].startswith("failure()") and report["run"].startswith(".ci/report")
    assert lane["timeout-minutes"] + report["timeout-minutes"] <= job["timeout-minutes"] - 5, "the setting up, too"


def test_permissions_are_the_least():
    assert all(flow["permissions"] == {"contents": "read"} for flow in WORKFLOWS.values())
    given = {name: job.get("permissions") for name, job in JOBS.items()}
    assert given == {"book.yml: test": None, "book.yml: notebooks": {"contents": "write"},
                     "book.yml: deploy": {"pages": "write", "id-token": "write"},
                     "weekly.yml: lane": {"contents": "read", "issues": "write"}}


@pytest.mark.parametrize("opened", ["", "7"])
def test_a_lane_that_fails_has_one_issue(tmp_path, opened):
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/said\n[ "$1 $2" = "issue list" ] && echo "{opened}"\nexit 0\n')
    gh.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([ROOT / ".ci" / "report", "Colab's versions", "https://run"], check=True, env=path)
    said = (tmp_path / "said").read_text()
    assert ("issue create" in said) == (not opened)
    assert ("issue comment 7 --body It failed again: https://run" in said) == bool(opened)
    assert 'select(.title == "Weekly run fails: Colab\'s versions")' in said

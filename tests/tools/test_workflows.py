"""The workflows of GitHub: they run what is there and pinned, may do little, and a failing lane
opens one issue."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in FILES}
JOBS = {
    f"{name}: {job}": what for name, flow in WORKFLOWS.items() for job, what in flow["jobs"].items()
}
TARGETS = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8")))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
every_job = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)


def scripts(job):
    """What the steps of a job run, with the commands of a matrix in their place."""
    lanes = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
    for step in job["steps"]:
        for lane in lanes if "run" in step else ():
            yield re.sub(
                r"\$\{\{ matrix\.(\w+) \}\}", lambda name, lane=lane: lane[name[1]], step["run"]
            )


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
def test_a_job_ends(job):
    assert job["timeout-minutes"] <= 90


@every_file
def test_actions_are_named_by_commit_with_the_tag_beside(path):
    used = re.findall(r"(?m)\buses: *(.*)$", path.read_text("utf-8"))
    assert used
    assert all(
        re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action) for action in used
    )


@every_job
def test_a_checkout_keeps_no_credentials(job):
    checkouts = [
        step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_permissions_are_the_least():
    assert all(flow["permissions"] == {"contents": "read"} for flow in WORKFLOWS.values())
    given = {name: job["permissions"] for name, job in JOBS.items() if "permissions" in job}
    assert given == {
        "book.yml: notebooks": {"contents": "write"},
        "book.yml: deploy": {"pages": "write", "id-token": "write"},
        "weekly.yml: report": {"contents": "read", "actions": "read", "issues": "write"},
    }


@every_job
def test_what_may_write_or_knows_a_token_runs_no_package(job):
    """Whatever is installed, or checked out and made, runs in jobs that may only read and are told
    no secret."""
    trusted = "write" in (job.get("permissions") or {}).values()
    told = re.search(r"github\.token|secrets\b|\binherit\b", yaml.safe_dump(job))
    assert trusted or not told
    for script in scripts(job) if trusted else ():
        assert not re.search(r"\b(make|python3?|pip|npm|apt-get|sudo)\b", script)
        assert set(re.findall(r"\.ci/\w+", script)) <= {".ci/report"}


@every_file
def test_an_index_of_torch_answers_for_torch_alone(path):
    """pip takes a name from whichever of its indexes has the highest version: a second one may
    answer for all names."""
    assert not re.search(r"PIP_|index-url", path.read_text("utf-8"))
    index = WORKFLOWS[path.name].get("env", {})
    assert index in ({}, {"TORCH_INDEX": "https://download.pytorch.org/whl/cpu"})


def test_lanes_leave_no_cache_to_other_runs():
    assert not any("cache" in step.get("with", {}) for step in JOBS["weekly.yml: lane"]["steps"])


def test_a_lane_out_of_time_is_still_reported():
    """A job at its limit is cancelled; a step at its own limit fails, and so does its job."""
    lane, report = JOBS["weekly.yml: lane"], JOBS["weekly.yml: report"]
    assert lane["steps"][-1]["timeout-minutes"] <= lane["timeout-minutes"] - 10, (
        "the setting up, too"
    )
    assert report["needs"] == "lane" and report["if"].startswith("failure()")
    assert report["steps"][-1]["run"].startswith(".ci/report")


# The gh command: it says what it was asked, and answers as GitHub would to a run of which two lanes
# failed.
GH = """#!/bin/sh
echo "$@" >>{folder}/said
case "$1 $2" in
    "run view") printf '{failed}' ;;
    "issue list") echo "{opened}" ;;
esac
"""
FAILED = "https://log/1\\tColab'\"'\"'s versions\\nhttps://log/2\\tlinks\\n"


def report(folder, failed, opened=""):
    """What .ci/report said to GitHub of a run, and its exit status."""
    gh = folder / "gh"
    gh.write_text(GH.format(folder=folder, failed=failed, opened=opened))
    gh.chmod(0o755)
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    status = subprocess.run([ROOT / ".ci" / "report", "1234"], check=False, env=path).returncode
    return (folder / "said").read_text().splitlines(), status


@pytest.mark.parametrize("opened", ["", "7"])
def test_each_lane_that_fails_has_one_issue(tmp_path, opened):
    said, status = report(tmp_path, FAILED, opened)
    assert status == 0
    assert said[0].startswith("run view 1234 ") and 'select(.conclusion == "failure")' in said[0]
    asked = [line for line in said if line.startswith("issue list")]
    assert [re.search(r'select\(\.title == "(.*?)"\)', line)[1] for line in asked] == [
        "Weekly run fails: Colab's versions",
        "Weekly run fails: links",
    ]
    for log in ("https://log/1", "https://log/2"):
        wanted = (
            f"issue comment 7 --body It failed again: {log}"
            if opened
            else "issue create --label weekly"
        )
        assert sum(line.startswith(wanted) and log in line for line in said) == 1


def test_a_run_in_which_nothing_failed_has_no_report(tmp_path):
    said, status = report(tmp_path, "")
    assert status == 1 and len(said) == 1

# SPDX-License-Identifier: Apache-2.0
"""The GitHub Action and the hooks for pre-commit: their commands, run as a runner and pre-commit run them."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from pinned_servers import FIND, LOSE, POISONED, Bench, bench
from ruamel.yaml import YAML

__all__ = ["bench"]

ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
HOOKS: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
INSTALL, GATE = ACTION["runs"]["steps"]
WHEELHOUSE = ROOT / ".tests" / "wheelhouse"
# As the runner starts what says `shell: bash`.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a step left: its exit code, its log, and what it wrote for other steps."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """A job's folder, and its steps."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._folder = folder
        self._workspace = workspace
        self.temp = folder / "runner's temp"
        self.temp.mkdir()

    def step(self, step: dict[str, Any], **inputs: str) -> Ran:
        """Run one step of the action with what the workflow gives, `_` for `-` in names."""
        files = {name: self._folder / name for name in ("output", "summary")}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        script = self._folder / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            **os.environ,
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "RUNNER_TEMP": str(self.temp),
            **{name: _filled(value, inputs) for name, value in step["env"].items()},
        }
        ended = subprocess.run(
            [*BASH, str(script)],
            cwd=self._workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = files["output"].read_text(encoding="utf-8").splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        return Ran(ended.returncode, ended.stdout, outputs, files["summary"].read_text(encoding="utf-8"))


def _filled(value: str, inputs: dict[str, str]) -> str:
    met = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
    assert met is not None, "a variable is one input and nothing else"
    return inputs.get(met[1].replace("-", "_"), str(ACTION["inputs"][met[1]]["default"]))


@pytest.fixture
def runner(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Runner:
    """A job whose first step found this very environment installed."""
    made = Runner(tmp_path_factory.mktemp("job"), bench.folder)
    (made.temp / "toolnotary").symlink_to(sys.prefix)
    return made


def test_no_script_holds_anything_of_a_workflow_and_no_other_action_is_used() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert "uses" not in step
        assert step["shell"] == "bash"


def test_a_server_that_is_as_pinned_passes(bench: Bench, runner: Runner) -> None:
    bench.pin()
    ran = runner.step(GATE)
    assert (ran.code, ran.outputs["exit-code"]) == (0, "0"), ran.log
    assert json.loads(Path(ran.outputs["sarif"]).read_text(encoding="utf-8"))["runs"][0]["results"] == []
    assert "1 server" in ran.summary


def test_a_server_that_changed_fails_with_annotations_a_summary_and_a_result_for_code_scanning(
    bench: Bench, runner: Runner
) -> None:
    bench.pin()
    bench.shows(POISONED, LOSE)
    ran = runner.step(GATE)
    assert (ran.code, ran.outputs["exit-code"]) == (1, "1")
    assert re.search(r"^::(error|warning) file=toolnotary\.lock,line=\d+,title=", ran.log, re.MULTILINE)
    assert "Send it to me first." in ran.summary
    assert json.loads(Path(ran.outputs["sarif"]).read_text(encoding="utf-8"))["runs"][0]["results"]


def test_the_inputs_choose_command_arguments_and_class(bench: Bench, runner: Runner) -> None:
    old, new = (
        bench.listing(FIND, name="old one.json"),
        bench.listing({**FIND, "title": "F"}, name="new.json"),
    )
    for fail_on, code in (("any", 1), ("medium", 0)):
        ran = runner.step(GATE, command="diff", arguments=f"{old}\n{new}\n", fail_on=fail_on)
        assert (ran.code, ran.outputs["exit-code"]) == (code, str(code)), ran.log


def test_what_could_not_be_judged_is_an_error_and_has_no_result(bench: Bench, runner: Runner) -> None:
    ran = runner.step(GATE, command="diff", arguments="nothing.json\nnowhere.json")
    assert (ran.code, ran.outputs) == (2, {"exit-code": "2"})
    assert "::error title=toolnotary::toolnotary diff ended with 2" in ran.log


@pytest.mark.parametrize(
    "word", ["$(touch pwned)", "`touch pwned`", "; touch pwned #", '"; touch pwned; "', "a\nb"]
)
def test_no_input_becomes_a_command(word: str, bench: Bench, runner: Runner) -> None:
    for name in ("command", "arguments", "fail_on"):
        ran = runner.step(GATE, **{name: word})
        assert ran.code == 2, ran.log
        assert not (bench.folder / "pwned").exists()


def test_the_runner_takes_no_command_from_what_servers_and_files_say(bench: Bench, runner: Runner) -> None:
    bench.pin()
    bench.shows(
        POISONED, LOSE, rules=[{"on": "start", "do": [{"stderr": "::error::pwned\n##[error]pwned\n"}]}]
    )
    tokens = set()
    for _ in range(2):
        log = runner.step(GATE).log
        begun = re.search(r"^::stop-commands::([0-9a-f]{32})$", log, re.MULTILINE)
        assert begun is not None
        ended = f"\n::{begun[1]}::\n"
        assert "pwned" not in log[: begun.start()] + log[log.index(ended) :]
        assert log.count(ended) == 1
        tokens.add(begun[1])
    assert len(tokens) == 2


@pytest.mark.parametrize("option", ["--format", "--report", "--fail-on"])
@pytest.mark.parametrize("given", ["{}\ntext", "{}=text"])
def test_what_the_action_says_itself_is_refused_in_its_arguments(
    option: str, given: str, bench: Bench, runner: Runner
) -> None:
    bench.pin()
    ran = runner.step(GATE, arguments=f"--start\n--accept-project\n{given.format(option)}")
    assert ran.code == 2
    assert f"::error title=toolnotary::the input arguments cannot hold {option}, " in ran.log
    assert "stop-commands" not in ran.log, "nothing was started"


def test_what_is_no_annotation_is_not_printed_to_the_runner(bench: Bench, runner: Runner) -> None:
    (bench.folder / "--").write_text("", encoding="utf-8")  # a policy, whose name ends no options
    old = bench.listing(FIND, name="old.json")
    new = bench.listing({**FIND, "title": "pwned"}, name="new.json")
    ran = runner.step(GATE, command="diff", arguments=f"--policy\n--\n--format\ntext\n{old}\n{new}")
    assert (ran.code, "pwned" in ran.log) == (1, False), ran.log
    assert "pwned" in ran.summary + Path(runner.temp / "toolnotary.annotations").read_text(encoding="utf-8")


def test_nothing_of_the_repository_is_imported(bench: Bench, runner: Runner) -> None:
    bench.pin()
    for name in ("click", "pip", "secrets", "toolnotary_cli", "toolnotary_verifier", "venv"):
        (bench.folder / name).mkdir()
        (bench.folder / name / "__init__.py").write_text("raise SystemExit('pwned')", encoding="utf-8")
    ran = runner.step(GATE)
    assert ran.code == 0, ran.log


def test_the_step_that_installs_installs_what_its_lock_names_and_nothing_else(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not WHEELHOUSE.is_dir():
        pytest.skip("the wheelhouse is empty: run tests/prepare.py first")
    (bench.folder / "pip").mkdir()
    (bench.folder / "pip" / "__init__.py").write_text("raise SystemExit('pwned')", encoding="utf-8")
    fresh = Runner(tmp_path_factory.mktemp("job"), bench.folder)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(WHEELHOUSE))
    ran = fresh.step(INSTALL, python=sys.executable)
    assert ran.code == 0, ran.log
    bin_folder = fresh.temp / "toolnotary" / "bin"
    script = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
    told = subprocess.run(
        [bin_folder / "python", "-I", "-c", script], capture_output=True, text=True, check=True
    )
    listed = {re.sub(r"[-_.]+", "-", name).lower() for name in json.loads(told.stdout)}
    ours = {"toolnotary", "toolnotary-signer", "toolnotary-verifier", "pip", "setuptools"}
    assert listed - ours == set(_locked("cli/requirements.txt"))
    bench.pin()
    assert fresh.step(GATE).code == 0


def _locked(name: str) -> dict[str, str]:
    """By distribution, its block of a hashed lock without the comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    lines = [line.rstrip(" \\") for line in text.splitlines() if not line.lstrip().startswith("#")]
    blocks = re.split(r"\n(?=\S)", "\n".join(lines))
    return {block.partition("==")[0]: block.strip() for block in blocks}


def test_the_lock_of_the_action_names_the_releases_that_the_tests_run_with() -> None:
    locked, tested = _locked("cli/requirements.txt"), _locked("requirements-dev.txt")
    assert {"click", "cryptography", "deepdiff", "hatchling"} <= set(locked)
    assert {name: tested.get(name) for name in locked} == locked


ARGUMENTS = {
    "toolnotary-check": ["listing.json", "--server", "files"],
    "toolnotary-diff": ["listing.json", "other.json"],
    "toolnotary-snapshot": ["listing.json"],
}


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_passes_and_fails_as_its_command_does(hook: dict[str, Any], bench: Bench) -> None:
    bench.pin()
    bench.listing(FIND, LOSE)
    bench.listing(FIND, LOSE, name="other.json")
    bench.run("snapshot", "listing.json")
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False

    def code() -> int:
        command = [*shlex.split(hook["entry"]), *ARGUMENTS[hook["id"]]]
        return subprocess.run([sys.executable, "-m", "toolnotary_cli", *command[1:]], check=False).returncode

    assert code() == 0
    bench.listing(POISONED, LOSE)
    assert code() == 1


def test_the_page_about_ci_names_the_inputs_outputs_and_hooks_that_there_are() -> None:
    page = (ROOT / "docs" / "reference" / "ci.md").read_text(encoding="utf-8")
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"| `{name}` |" in page
    first, second = (
        YAML(typ="safe").load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    )
    (used,) = (step for step in first["steps"] if "toolnotary@" in step["uses"])
    assert set(used["with"]) <= set(ACTION["inputs"])
    (repo,) = second["repos"]
    assert {hook["id"] for hook in repo["hooks"]} == {hook["id"] for hook in HOOKS}

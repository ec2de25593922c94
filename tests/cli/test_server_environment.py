# SPDX-License-Identifier: Apache-2.0
"""What of our environment a server gets, whichever command starts it."""

import json
import sys
from pathlib import Path

import pytest
from pinned_servers import LOSE, YES, Bench, bench
from servers import scripted

__all__ = ["bench"]

OURS = {
    "TOOLNOTARY_KEY_PASSPHRASE_FILE": "/x",
    "TOOLNOTARY_DATABASE": "sqlite:///x",
    "TOOLNOTARY_DEBUG": "1",
}
PIPELINE = {"GITHUB_TOKEN": "x", "CI_JOB_TOKEN": "x", "NODE_AUTH_TOKEN": "x"}


@pytest.fixture
def telling(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A server that writes down the names of its variables, where there are ours and a pipeline's."""
    Path("telling.py").write_text(
        "import json, os, runpy, sys\n"
        "open('seen', 'a').write(json.dumps(sorted(os.environ)) + '\\n')\n"
        f"sys.argv[0] = {scripted.__file__!r}\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n",
        encoding="utf-8",
    )
    words = [sys.executable, str(bench.folder / "telling.py"), "--file", str(bench.script)]
    monkeypatch.setattr(Bench, "launch", words)
    for name, value in {**OURS, **PIPELINE, "ACME_SETTING": "x"}.items():
        monkeypatch.setenv(name, value)
    for name in ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "SIGSTORE_ID_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return bench


def seen() -> set[str]:
    """The names that any start since the last question saw."""
    lines = Path("seen").read_text(encoding="utf-8").splitlines()
    Path("seen").unlink()
    return {name for line in lines for name in json.loads(line)}


def test_no_command_that_looks_at_a_server_hands_our_variables_or_a_pipelines_to_it(telling: Bench) -> None:
    telling.pin()
    told = {"lock": seen()}
    telling.run("capture", "-o", "captured.json", "--", *telling.launch)
    told["capture"] = seen()
    telling.run("check", "--server", "files", "--", *telling.launch)
    told["check"] = seen()
    telling.run("check", "--start")
    told["check --start"] = seen()
    line = "stdio:" + " ".join(telling.launch)
    telling.run("diff", line, line)
    told["diff"] = seen()
    telling.shows(LOSE)
    telling.at_terminal("approve", "files", "--", *telling.launch, answers=YES)
    told["approve"] = seen()
    for command, names in told.items():
        assert "ACME_SETTING" in names, command
        assert not names & (OURS.keys() | PIPELINE.keys()), command
        assert not [name for name in names if name.startswith("TOOLNOTARY_")], command


def test_run_keeps_our_variables_from_the_server_and_hands_it_what_its_host_meant_for_it(
    telling: Bench,
) -> None:
    telling.pin()
    seen()
    telling.hosted()
    names = seen()
    assert {"ACME_SETTING", *PIPELINE} <= names
    assert not [name for name in names if name.startswith("TOOLNOTARY_")]

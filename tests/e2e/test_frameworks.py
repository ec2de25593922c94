# SPDX-License-Identifier: Apache-2.0
"""What an agent is given by each framework once the server behind it has turned: pinned tools, refusals."""

import json
import subprocess
from typing import Any

import proxybench
import pytest
from conftest import ROOT
from effort import some
from proxybench import SERVER
from sdk import DEADLINE, pin, python, turning, turning_over_http

Json = Any
WAYS = [
    ("langchain", "run"),
    ("langchain", "transport"),
    ("langchain", "httpx"),
    ("openai_agents", "run"),
    ("openai_agents", "transport"),
    ("openai_agents", "httpx"),
    ("pydantic_ai", "run"),
    ("pydantic_ai", "transport"),
    ("pydantic_ai", "httpx"),
    ("google_adk", "run"),
    ("google_adk", "httpx"),
]
ALL = ["greet", "turn", "wait", "waited"]


@pytest.mark.parametrize(("framework", "way"), some(WAYS, 4))
def test_a_framework_lists_what_is_pinned_and_reads_why_a_call_was_refused(framework: str, way: str) -> None:
    if way == "httpx":
        with turning_over_http("mcp2") as url:
            pin(url)
            read, said = used(framework, {"server": SERVER, "way": way, "url": url})
    else:
        command = turning("mcp2")
        pin("--", *command)
        read, said = used(
            framework, {"server": SERVER, "way": way, "command": command, "run": proxybench.run(command)}
        )
    assert (read["before"], read["after"]) == (ALL, ALL[1:]), said
    assert read["read"][:2] == ["Hello, Ada.", "turned"]
    assert read["read"][2].startswith("Blocked by toolnotary: tool greet has a definition that differs")


def used(framework: str, plan: Json) -> tuple[Json, str]:
    """What a framework made of a server, and its standard error."""
    script = ROOT / "tests" / "frameworks" / framework / "host.py"
    done = subprocess.run(
        [python(framework), str(script), json.dumps(plan)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_the_table_names_every_way() -> None:
    table = (ROOT / "tests" / "frameworks" / "README.md").read_text(encoding="utf-8")
    for framework in {framework for framework, _ in WAYS}:
        lock = (ROOT / "tests" / "frameworks" / framework / "requirements.in").read_text(encoding="utf-8")
        pinned = [line.partition("==") for line in lock.splitlines() if "==" in line]
        names = [name.partition("[")[0].removesuffix("-slim") for name, _, _ in pinned]
        (row,) = [line for line in table.splitlines() if line.startswith(f"| {names[0]} ")]
        version = pinned[0][2].removesuffix(".0")
        assert f"| {names[0]} {version} |" in row
        assert row.split(" | ")[2] == ", ".join(f"`{way}`" for name, way in WAYS if name == framework)

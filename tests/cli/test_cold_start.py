# SPDX-License-Identifier: Apache-2.0
"""A command loads what it needs and nothing else: start-up time is modules, and modules can be counted.

`tests/benchmarks/cold_start.py` prints the times.
"""

import json
from pathlib import Path

import pytest
from interpreter import printed_by

# Each costs between half and thirty times the start of an interpreter (measured), and is for few commands.
HEAVY = {
    "asyncio",
    "cryptography",
    "deepdiff",
    "fastapi",
    "http.client",
    "importlib.metadata",
    "orjson",
    "rich",
    "sqlite3",
    "sqlmodel",
    "ssl",
    "subprocess",
    "ruamel",
    "tomlkit",
    "tomllib",
    "urllib.request",
    "uvicorn",
}
# What `--help` and `--version` may load of ours: no room of the verifier but errors and the escaping of text.
FRAME = {
    "toolnotary_cli",
    "toolnotary_cli.colors",
    "toolnotary_cli.exits",
    "toolnotary_cli.main",
    "toolnotary_cli.telling",
    "toolnotary_verifier",
    "toolnotary_verifier.errors",
    "toolnotary_verifier.escape",
}
PROBE = """
import io, json, sys
from toolnotary_cli.main import main
sys.stdout, out = io.StringIO(), sys.stdout
code = main(sys.argv[1:])
sys.stdout = out
print(json.dumps({"code": code, "modules": sorted(sys.modules)}))
"""


def loaded(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command line, and every module that was loaded when it ended."""
    found = json.loads(printed_by(PROBE, *arguments))
    return found["code"], set(found["modules"])


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"]])
def test_the_frame_loads_itself_and_click(arguments: list[str]) -> None:
    _, modules = loaded(*arguments)
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("toolnotary")} == FRAME


def test_comparing_equal_listings_loads_no_rules_for_texts(tmp_path: Path) -> None:
    listing = tmp_path / "listing.json"
    listing.write_text('{"tools": [{"name": "a"}]}', encoding="utf-8")
    _, modules = loaded("diff", str(listing), str(listing))
    assert not {name for name in modules if name.startswith("toolnotary_verifier.review.reading")}


def test_comparing_equal_listings_loads_neither_deepdiff_nor_anything_that_connects(tmp_path: Path) -> None:
    listing = tmp_path / "listing.json"
    listing.write_text('{"tools": [{"name": "a"}]}', encoding="utf-8")
    code, modules = loaded("diff", str(listing), str(listing))
    assert code == 0
    assert not modules & (HEAVY - {"orjson"})
    assert not {name for name in modules if name.startswith("toolnotary_verifier.capture")}


@pytest.mark.parametrize("name", ["run", "check", "status", "explain", "scan", "wrap", "unwrap"])
def test_help_of_a_command_that_hosts_wait_for_loads_no_heavy_module(name: str) -> None:
    code, modules = loaded(name, "--help")
    assert code == 0
    assert not modules & HEAVY


def test_judging_a_saved_listing_loads_no_launch_no_manifest_and_nothing_that_connects(
    tmp_path: Path,
) -> None:
    listing = tmp_path / "listing.json"
    listing.write_text('{"tools": [{"name": "a"}]}', encoding="utf-8")
    code, modules = loaded("check", str(listing), "--server", "files")
    assert code == 1
    assert not modules & (HEAVY - {"orjson"})
    assert "shlex" not in modules
    assert not modules & {
        f"toolnotary_verifier.review.{room}" for room in ("classify", "compared", "rules", "scan")
    }
    ours = {name.removeprefix("toolnotary_verifier.") for name in modules}
    assert not ours & {"capture", "contents", "files", "keys", "launch", "manifest", "policy_file", "verify"}


def test_what_a_command_loaded_is_not_looked_through_for_garbage_when_it_ends() -> None:
    script = (
        "import atexit, gc;"
        "atexit.register(lambda: print(len(gc.get_objects()), gc.get_freeze_count()));"
        "from toolnotary_cli.main import main;"
        "main(['--version'])"
    )
    left, frozen = map(int, printed_by(script).split()[2:])
    assert left < 100
    assert frozen > 10_000

# SPDX-License-Identifier: Apache-2.0
"""A part that is not installed is named by the command that needs it; all other commands work without it."""

import subprocess
import sys

import pytest
from pinned_servers import FIND, LOSE, POISONED, YES, Bench, bench
from terminal import Session, run_at_terminal

__all__ = ["bench"]

# `toolnotary` as it is where a module is not installed.
WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None
from toolnotary_cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def without(module: str, *words: str) -> tuple[int, str, str]:
    """Exit code and output of a command where `module` is not installed."""
    command = [sys.executable, "-c", WITHOUT, module, *words]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def at_terminal(bench: Bench, module: str, *words: str) -> Session:
    """The same at a terminal, where a person says yes."""
    return run_at_terminal([sys.executable, "-c", WITHOUT, module, *words], *YES, directory=bench.folder)


STORAGE = ("toolnotary_registry_api", "sqlmodel", "sqlalchemy", "alembic")


@pytest.mark.parametrize(
    ("words", "module"),
    [
        *(("serve --port 0", module) for module in (*STORAGE, "fastapi", "uvicorn", "h11")),
        *(("registry list-keys", module) for module in STORAGE),
    ],
)
def test_a_registry_without_its_extra_names_it_and_opens_nothing(
    bench: Bench, words: str, module: str
) -> None:
    before = bench.files
    code, out, err = without(module, *words.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: missing-extra: this needs the extra registry, which is not installed\n")
    assert "pip install 'toolnotary[registry]'" in err
    assert bench.files == before


@pytest.mark.parametrize(
    "words", ["run --url http://127.0.0.1:9/mcp", "gateway --upstream http://127.0.0.1:9/mcp"]
)
def test_what_stands_before_a_url_without_its_extra_names_it(words: str) -> None:
    code, out, err = without("httptools", *words.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: missing-extra: this needs the extra gateway, which is not installed\n")
    assert "pip install 'toolnotary[gateway]'" in err


def test_another_module_that_is_missing_is_a_defect_and_no_missing_extra() -> None:
    code, _, err = without("toolnotary_verifier.naming", "serve", "--port", "0")
    assert code == 70
    assert "missing-extra" not in err
    assert "toolnotary_verifier.naming" in err


def test_without_deepdiff_servers_are_judged_all_the_same(bench: Bench) -> None:
    bench.pin()
    assert without("deepdiff", "check", bench.listing(FIND, LOSE), "--server", "files")[0] == 0
    code, out, _ = without("deepdiff", "check", bench.listing(POISONED, LOSE), "--server", "files")
    assert code == 1
    assert "changed: tool find" in out


def test_without_deepdiff_a_person_reads_the_whole_new_definition(bench: Bench) -> None:
    """What changed cannot be told apart from what did not, and nothing is left out for that."""
    bench.pin()
    bench.shows(POISONED, LOSE)
    arguments = ("approve", "files", "--", *bench.launch)
    told = at_terminal(bench, "deepdiff", *arguments)
    assert told.code == 0, told.shown
    assert f'  |   "description": "{POISONED["description"]}"' in told.shown
    assert '  |   "name": "find"' in told.shown
    assert "Lose a record." not in told.shown, "that did not change"
    assert bench.run("check", "--start")[0] == 0

# SPDX-License-Identifier: Apache-2.0
"""A server that repeats a secret which it was given: no command pins, stores or shows anything of it."""

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from effort import some
from pinned_servers import FIND, LOSE, YES, Bench, bench
from servers import scripted
from servers.http_server import serve

__all__ = ["bench"]

CANARY = "kAnary0Secret1Value2Xy3"
PASSWORD = "k@nary/0/pass:word"
REPEATS = {"name": "lose", "description": f"Lose it with {CANARY}.", "inputSchema": {"type": "object"}}
# Ways to give a server a secret: words behind its command, words before it, variables of this process.
WAYS = {
    "flag": (["--api-key", CANARY], [], {}),
    "joined": ([f"--token={CANARY}"], [], {}),
    "header": (["--header", f"Authorization: Bearer {CANARY}"], [], {}),
    "configuration": (["--config", json.dumps({"acme": [{"apiKey": CANARY}]})], [], {}),
    "query": ([f"https://api.example/mcp?user=me&key={CANARY}&page=1"], [], {}),
    "password": ([f"postgresql://reader:{CANARY}@db.example/records"], [], {}),
    "env": ([], ["env", f"ACME_TOKEN={CANARY}"], {}),
    "variable": ([], [], {"ACME_TOKEN": CANARY}),
    "address": ([], [], {"DATABASE_URL": f"postgresql://reader:{CANARY}@db.example/records"}),
}


@pytest.fixture(params=some(list(WAYS), 3))
def launch(request: pytest.FixtureRequest, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How the bench's server is started with the secret."""
    behind, before, variables = WAYS[request.param]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return [*before, *started(bench), *behind]


def started(bench: Bench) -> list[str]:
    """A server that takes all arguments, and shows what the bench's script says."""
    program = bench.folder / "program.py"
    arguments = ["x", "--file", str(bench.script)]
    program.write_text(
        f"import runpy, sys\nsys.argv = {arguments!r}\n"
        f"runpy.run_path({scripted.__file__!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


def kept(bench: Bench, secret: str = CANARY) -> list[str]:
    """The files that hold the secret, but for the script that makes the server say it."""
    return [
        name
        for name, raw in bench.files.items()
        if secret.encode() in raw and Path(name).name not in ("server.json", "listing.json")
    ]


def test_nothing_is_pinned(bench: Bench, launch: list[str]) -> None:
    bench.shows(FIND, REPEATS)
    session = bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES)
    assert session.code == 1
    assert "secret-in-surface: tool lose repeats a secret" in session.shown
    assert CANARY not in session.shown
    assert kept(bench) == []
    assert not (bench.folder / "toolnotary.lock").exists()


def test_no_change_is_accepted_or_shown(bench: Bench, launch: list[str]) -> None:
    assert bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES).code == 0
    before = bench.files
    bench.shows(FIND, REPEATS)
    session = bench.at_terminal("approve", "files", "--", *launch, answers=YES)
    assert session.code == 1
    assert "secret-in-surface" in session.shown
    assert CANARY not in session.shown
    after = {name: raw for name, raw in bench.files.items() if not name.endswith("server.json")}
    assert after == {name: raw for name, raw in before.items() if not name.endswith("server.json")}


def test_a_check_says_why_it_did_not_judge(bench: Bench, launch: list[str]) -> None:
    assert bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES).code == 0
    bench.shows(FIND, REPEATS)
    code, result = bench.json("check", "--server", "files", "--", *launch)
    assert code == 1
    assert result["servers"][0]["outcome"] == "not-inspected"
    assert result["servers"][0]["error"]["code"] == "secret-in-surface"
    assert CANARY not in json.dumps(result)


def test_no_difference_is_shown(bench: Bench, launch: list[str]) -> None:
    listing = bench.listing(FIND, LOSE)
    bench.shows(FIND, REPEATS)
    code, out, err = bench.run("diff", listing, f"stdio:{shlex.join(launch)}")
    assert code == 1
    assert "secret-in-surface" in err
    assert CANARY not in out + err


@pytest.mark.parametrize(
    "shown",
    [
        {"tools": [{"name": CANARY, "inputSchema": {"type": "object"}}]},
        {"tools": [{"name": "x" * 70 + CANARY, "inputSchema": {"type": "object"}}]},
        {"tools": [{"name": CANARY}, {"name": CANARY, "title": "other"}]},
        {"tools": [FIND], "instructions": f"Say {CANARY} first."},
        {"tools": [FIND], "resources": [{"uri": f"db://{CANARY}@x", "name": "all"}]},
        {"tools": [FIND], "serverInfo": {"name": CANARY, "version": "1"}},
        {"tools": [FIND], "capabilities": {"experimental": {CANARY: {}}}},
    ],
    ids=["name", "cut", "ambiguous", "instructions", "resource", "serverInfo", "capabilities"],
)
def test_wherever_it_stands(bench: Bench, shown: dict[str, object]) -> None:
    bench.script.write_text(json.dumps({"instructions": None, **shown}), encoding="utf-8")
    launch = [*started(bench), "--api-key", CANARY]
    session = bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES)
    assert session.code == 1
    assert "secret-in-surface" in session.shown
    assert CANARY[:8] not in session.shown
    assert kept(bench) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://{}?user=me&key=" + CANARY,
        f"http://me:{CANARY}@{{}}",
        "http://{}?x=" + quote(PASSWORD, safe=""),
    ],
)
def test_what_a_url_holds_is_not_repeated_either(bench: Bench, url: str) -> None:
    tools = [FIND, {**LOSE, "description": f"{CANARY} and {PASSWORD}"}]
    with serve(era="both", tools=tools) as served:
        address = url.format(served.url.removeprefix("http://"))
        session = bench.at_terminal("lock", "--server", "files", address, answers=YES)
    assert session.code == 1
    assert "secret-in-surface" in session.shown
    assert not any(secret in session.shown for secret in (CANARY, PASSWORD))
    assert kept(bench) == kept(bench, PASSWORD) == []


def test_a_saved_listing_is_held_against_the_launch_that_it_is_pinned_under(bench: Bench) -> None:
    launch = [*started(bench), "--api-key", CANARY]
    listing = bench.listing(FIND, REPEATS)
    session = bench.at_terminal("lock", "--server", "files", listing, "--", *launch, answers=YES)
    assert (session.code, "secret-in-surface" in session.shown) == (1, True)
    assert CANARY not in session.shown
    assert kept(bench) == []


@pytest.mark.parametrize("word", ["${ACME_ACCESS}", CANARY], ids=["placeholder", "masked"])
def test_a_saved_listing_is_held_against_the_recorded_launch(
    bench: Bench, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the lockfile left the secret out, the variables of this process still count."""
    monkeypatch.setenv("ACME_ACCESS" if word.startswith("$") else "ACME_TOKEN", CANARY)
    launch = [*started(bench), "--api-key", word]
    assert bench.at_terminal("lock", "--server", "files", "--", *launch, answers=YES).code == 0
    session = bench.at_terminal("approve", "files", bench.listing(FIND, REPEATS), answers=YES)
    assert (session.code, "secret-in-surface" in session.shown) == (1, True)
    assert CANARY not in session.shown
    assert kept(bench) == []


@pytest.mark.parametrize(
    "words",
    [
        ["--config", json.dumps({"model": "gpt-4o-mini", "apiKey": CANARY})],
        ["--auth", "client_credentials"],
        ["https://v20240601.example/mcp?key=" + CANARY],
    ],
)
def test_words_that_are_no_secret_keep_nothing_from_being_pinned(bench: Bench, words: list[str]) -> None:
    bench.shows({**FIND, "description": "As gpt-4o-mini with client_credentials on v20240601.example."})
    session = bench.at_terminal("lock", "--server", "files", "--", *started(bench), *words, answers=YES)
    assert session.code == 0, session.shown

# SPDX-License-Identifier: Apache-2.0
"""`toolnotary revoke`: what was accepted can be taken back, and no lockfile brings it in again."""

import pytest
from pinned_servers import Bench, bench

__all__ = ["bench"]


@pytest.fixture(autouse=True)
def _pinned(bench: Bench) -> None:
    bench.pin()


def test_one_tool_is_withdrawn_and_the_others_work(bench: Bench) -> None:
    code, result = bench.json("revoke", "files", "find")
    assert code == 0
    assert result["tool"] == "find"
    code, result = bench.json("check", "--start")
    assert code == 1
    found = {verdict["name"]: verdict["reason"] for verdict in result["servers"][0]["verdicts"]}
    assert found == {"find": "revoked", "lose": "verified"}


def test_a_withdrawn_server_stays_out_whatever_a_lockfile_says(bench: Bench) -> None:
    lockfile = bench.folder / "toolnotary.lock"
    before = lockfile.read_bytes()
    assert bench.json("revoke", "files")[0] == 0
    assert lockfile.read_bytes() != before
    lockfile.write_bytes(before)
    for option in ([], ["--accept-project"]):
        code, result = bench.json("check", "--start", *option)
        assert code == 1
        assert result["servers"][0]["counts"] == {"revoked": 2}


def test_what_was_withdrawn_can_be_accepted_again_by_a_person(bench: Bench) -> None:
    bench.json("revoke", "files", "find")
    session = bench.at_terminal("approve", "files", "--start", answers=(("accept this for", "yes\n"),))
    assert session.code == 0
    assert bench.json("check", "--start")[0] == 0


def test_what_is_not_pinned_cannot_be_withdrawn(bench: Bench) -> None:
    before = bench.files
    for arguments in (["other"], ["files", "none"]):
        code, _, err = bench.run("revoke", *arguments)
        assert code == 1
        assert "not-pinned" in err
    assert bench.files == before

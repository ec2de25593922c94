# SPDX-License-Identifier: Apache-2.0
"""Listings of real servers: two captures of one version are equal, or what differs is told by name."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from corpus import base, lists_without_handshake, runs, surface
from corpus import versions as versions_of

from toolnotary_verifier.capture.stability import Unstable, unstable
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.equivalence import normal_digest

# Built from a set of words, and so different at every start, whatever else is the same.
AT_EVERY_START = {
    "mcp-atlassian": {"jira_get_board_issues", "jira_get_issue", "jira_get_sprint_issues", "jira_search"}
}
# Run C starts in another directory, home, time zone and locale; these servers put one of them into a text.
BY_PLACE = {
    "mcp-server-time": {"convert_time", "get_current_time"},
    "mcp-server-motherduck": {"instructions"},
}
# Advertised only to a client that declares roots, sampling and elicitation.
TO_CAPABLE_CLIENTS = {
    "@modelcontextprotocol__server-everything": {
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-sampling-request",
        "trigger-url-elicitation",
    }
}
# Registered after a handshake only; a stateless client never sees it.
AFTER_HANDSHAKE = {"@modelcontextprotocol__server-everything": {"simulate-research-query"}}
# One version under other circumstances: tools that differ and are not equal in normal form either.
OTHERWISE = {
    "@modelcontextprotocol__server-filesystem/2025.8.21+dep-sdk1.20": 13,
    "@modelcontextprotocol__server-filesystem/2026.8.31+dep-sdk1.20": 13,
    "@modelcontextprotocol__server-memory/2026.8.31+dep-sdk1.20": 8,
    "mcp-atlassian/0.23.1+cfg-readonly": 4,
    "mcp-atlassian/0.23.1+cfg-seed0": 4,
    "mcp-server-motherduck/1.1.0+cfg-readonly": 1,
    "mcp-server-time/2026.10.19+cfg-tz": 2,
}


@pytest.fixture(scope="module")
def versions(shared: Path) -> list[Path]:
    found = versions_of(shared / "corpus")
    assert len(found) > 200
    return found


def moved(version: Path, run: str) -> tuple[Unstable, ...]:
    return unstable("default", [surface(version), surface(version, run)])


def expected(version: Path, *tables: Mapping[str, set[str]]) -> set[str]:
    return set().union(*(table.get(version.parent.name, set()) for table in tables))


def pairs(versions: list[Path], *wanted: str) -> Iterator[tuple[Path, str]]:
    for version in versions:
        for run in sorted(runs(version)):
            if run in wanted:
                yield version, run


def test_every_listing_of_a_real_server_is_read_without_a_fault(versions: list[Path]) -> None:
    for version in versions:
        found = surface(version)
        assert not found.faults, version
        assert not found.notes, version


def test_a_second_start_says_the_same_or_is_told_by_name(versions: list[Path]) -> None:
    seen = 0
    for version, run in pairs(versions, "B"):
        found = moved(version, run)
        assert {one.name for one in found} == expected(version, AT_EVERY_START), version
        assert all(move.is_reordered for one in found for move in one.moves), version
        seen += len(found)
    assert seen == 60


def test_another_place_time_zone_revision_or_name_changes_only_what_is_told_by_name(
    versions: list[Path],
) -> None:
    known = set(AT_EVERY_START) | set(BY_PLACE)
    for version, run in pairs(versions, "C", "P24", "P25", "NAME", "NAME2", "FT"):
        names = {one.name for one in moved(version, run)}
        if version.parent.name not in known:
            assert not names, version
        assert names <= expected(version, AT_EVERY_START, BY_PLACE), version


def test_client_capabilities_bring_tools_and_change_none(versions: list[Path]) -> None:
    checked = list(pairs(versions, "CAPS"))
    assert checked
    for version, run in checked:
        found = moved(version, run)
        assert {one.name for one in found} == expected(version, AT_EVERY_START, TO_CAPABLE_CLIENTS), version
        assert all(one.comes_and_goes for one in found if one.name in expected(version, TO_CAPABLE_CLIENTS))


def test_the_stateless_era_lists_the_same_tools(versions: list[Path]) -> None:
    checked = [version for version, _ in pairs(versions, "M26") if lists_without_handshake(version)]
    assert len(checked) == 14
    for version in checked:
        names = {one.name for one in moved(version, "M26") if one.kind is Kind.TOOL}
        assert names == expected(version, AFTER_HANDSHAKE), version


def test_fresh_installs_of_one_version_are_equal_in_normal_form_or_counted_here(versions: list[Path]) -> None:
    unequal = {}
    for version in versions:
        if version == base(version):
            continue
        one, other = surface(base(version)).definitions, surface(version).definitions
        shared = [key for key in one.keys() & other.keys() if key[0] is Kind.TOOL]
        strange = sum(normal_digest(one[key]) != normal_digest(other[key]) for key in shared)
        if strange:
            unequal[f"{version.parent.name}/{version.name}"] = strange
    assert unequal == OTHERWISE

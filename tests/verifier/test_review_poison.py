# SPDX-License-Identifier: Apache-2.0
"""One sentence for the model, hidden among everything else that a release changes, is told first."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from corpus import releases, surface
from effort import scaled
from poisons import INJECTED, PLACES

from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.review import Risk, review
from toolnotary_verifier.surface import Surface, assemble

# Groups that a person sees without scrolling.
SCREEN = 10


def poisoned(after: Surface, name: str, place: str, sentence: str) -> Surface:
    tool: Any = json.loads(after.definitions[Kind.TOOL, name].canonical)
    PLACES[place](tool, sentence)
    made = Definition.of(Kind.TOOL, tool)
    return after._replace(definitions={**after.definitions, made.key: made})


def expect_first(before: Surface, after: Surface, name: str, place: str, sentence: str) -> None:
    found = review(before, poisoned(after, name, place, sentence))
    first = [group for group in found.groups[:SCREEN] if group.risk >= Risk.HIGH]
    told = [finding for group in first for finding in group.findings if finding.name == name]
    assert any(
        sentence.startswith(span.text[:40]) or span.text in sentence for one in told for span in one.added
    )


def bumped() -> tuple[Surface, Surface]:
    """A release of forty tools in which a framework changed every schema, and people most texts."""
    old = [
        {
            "name": f"tool_{n}",
            "description": f"Gets record {n}.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "integer", "title": "Id"}}},
        }
        for n in range(40)
    ]
    new: list[Any] = copy.deepcopy(old)
    for n, tool in enumerate(new):
        tool["inputSchema"]["properties"]["id"].update(title="id", minimum=n)
        tool["description"] = f"Gets record {n}, with its {n} lines. You must give the id of record {n}."
        tool["annotations"] = {"readOnlyHint": True}
    return assemble({Kind.TOOL: old}), assemble({Kind.TOOL: new})


@pytest.mark.parametrize("place", PLACES)
def test_a_sentence_for_the_model_is_among_the_first_findings(place: str) -> None:
    before, after = bumped()
    for sentence in INJECTED[:: scaled(4, 1)]:
        expect_first(before, after, "tool_31", place, sentence)


@pytest.fixture(scope="module")
def release(shared: Path) -> tuple[Surface, Surface]:
    """The two neighbouring releases of a real server between which most changed."""
    pairs = [
        (surface(before), surface(after))
        for before, after in releases(shared / "corpus")
        if after.parent.name == "chrome-devtools-mcp"
    ]
    if not pairs:
        pytest.skip("no releases of chrome-devtools-mcp here")
    return max(pairs, key=lambda pair: len(review(*pair).groups))


@pytest.mark.parametrize("place", PLACES)
def test_it_is_so_among_the_changes_of_a_real_release(place: str, release: tuple[Surface, Surface]) -> None:
    before, after = release
    changed = {one.name for one in review(before, after).differences if one.kind is Kind.TOOL and one.path}
    for sentence in INJECTED[:: scaled(10, 1)]:
        expect_first(before, after, max(changed), place, sentence)

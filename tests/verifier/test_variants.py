# SPDX-License-Identifier: Apache-2.0
"""Every honest variant of a real server is told as what it is, and no attack put into one as a variant."""

from collections import Counter
from pathlib import Path

import pytest
import variants
from effort import scaled

from toolnotary_verifier.review.cause import causes_of

# Of both sides of every variant; `tests/benchmarks/causes.py` prints this (docs/reference/causes.md).
VARIANTS = {
    "verified": 54,
    "equivalent": 6,
    "no cause": 6,
    "schema-generator": 4,
    "configuration-profile": 3,
    "configuration-profile, the rest apart": 3,
    "environment-value, the rest apart": 2,
    "set-order": 2,
    "configuration-profile + set-order": 1,
    "configuration-profile + set-order, the rest apart": 1,
    "schema-vanished": 1,
    "schema-vanished, the rest apart": 1,
}
# Other texts or other tools throughout: nothing in the surfaces tells them from a server that turned.
ONLY_BY_SIGNATURE = {
    "chrome-devtools-mcp/1.11.0+cfg-slim",
    "firecrawl-mcp/3.26.0+cfg-selfhost",
    "mcp-server-motherduck/1.1.0+cfg-readonly",
}
# One tool more that is absent where many are: it says nothing to a model, and is noted by name in any case.
ONE_MORE_ABSENT = ("43-tool-removed", 4)


@pytest.fixture(scope="module")
def pairs(shared: Path) -> list[variants.Pair]:
    found = list(variants.variants(shared / "corpus"))
    if not found:
        pytest.skip("no captures of real servers here")
    return found


def test_every_honest_variant_is_told_as_what_it_is(pairs: list[variants.Pair]) -> None:
    assert Counter(variants.outcome(pair) for pair in pairs) == VARIANTS
    without = {pair.name.removesuffix(", pinned") for pair in pairs if variants.outcome(pair) == "no cause"}
    assert without == ONLY_BY_SIGNATURE


def test_every_honest_variant_is_a_signed_one_once_its_publisher_signed_it(
    pairs: list[variants.Pair],
) -> None:
    assert [pair.name for pair in pairs if not variants.is_signed_variant(pair)] == []


def test_no_attack_put_into_a_variant_is_told_as_one(pairs: list[variants.Pair], shared: Path) -> None:
    """In some variants at quick effort, in half of them at full effort; the benchmark does all."""
    attacks = variants.attacks(shared / "cases")
    assert len(attacks) > 50
    told: Counter[str] = Counter()
    seen = 0
    for number, pair in enumerate(pairs):
        for place, attack in enumerate(attacks):
            if (number + place) % scaled(40, 2):
                continue
            both = attack.put(pair)
            if both is None:
                continue
            seen += 1
            found = causes_of(both.pinned, both.seen)
            if found.account_for_all or not found.apart:
                told[attack.name] += 1
    assert seen > scaled(100, 2300)
    name, most = ONE_MORE_ABSENT
    assert told.keys() <= {name}
    assert told[name] <= most

# SPDX-License-Identifier: Apache-2.0
"""What is said of the cause of every honest variant of a server, and of attacks put into them.

    python tests/benchmarks/causes.py CORPUS CASES

CORPUS holds listings of real servers, some versions of which were captured under several circumstances;
CASES attacks as `before` and `after` (tests/corpus.py and tests/variants.py say how they lie there).
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import corpus as listings  # noqa: E402 - a folder of the tests, found above
import variants  # noqa: E402

from toolnotary_verifier.errors import InvalidInput  # noqa: E402
from toolnotary_verifier.review.cause import causes_of  # noqa: E402


def table(title: str, found: Counter[str]) -> Iterator[str]:
    """What was found how often, most often first."""
    yield f"{title}: {found.total()}"
    for what, count in sorted(found.items(), key=lambda one: (-one[1], one[0])):
        yield f"  {count:6}  {what}"


def honest(title: str, pairs: Iterable[variants.Pair]) -> Iterator[str]:
    """How honest pairs are told, and how many of them are signed variants once they are signed."""
    found: Counter[str] = Counter()
    signed = 0
    for pair in pairs:
        found[variants.outcome(pair)] += 1
        signed += variants.is_signed_variant(pair)
    yield from table(title, found)
    yield f"  {signed:6}  are verified, equivalent or a signed variant once signed as a profile"


def attacked(corpus: Path, cases: Path) -> Iterator[str]:
    """How many attacks on honest variants are accounted for by their causes."""
    found: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    known = variants.attacks(cases)
    for pair in variants.variants(corpus):
        for attack in known:
            both = attack.put(pair)
            if both is None:
                continue
            told = causes_of(both.pinned, both.seen)
            found["accounted for" if told.account_for_all else "apart" if told.apart else "unseen"] += 1
            if not told.apart:
                excused[f"{attack.name}: {variants.named(told)}"] += 1
    yield from table("attacks in variants", found)
    yield from (f"          {what}: {count}" for what, count in sorted(excused.items()))


def neighbours(corpus: Path) -> Iterator[str]:
    """What is named between neighbouring releases, where nobody says that they are two."""
    found: Counter[str] = Counter()
    for old, new in listings.releases(corpus):
        try:
            pair = variants.Pair(old.name, listings.surface(old), listings.surface(new))
        except InvalidInput:  # a list of which a page is not here
            continue
        found[variants.outcome(pair)] += 1
    yield from table("neighbouring releases", found)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("cases", type=Path)
    given = parser.parse_args()
    start = time.process_time()
    for line in (
        *honest("variants, either side pinned", variants.variants(given.corpus)),
        *honest("further runs", variants.runs(given.corpus)),
        *attacked(given.corpus, given.cases),
        *neighbours(given.corpus),
    ):
        print(line)
    print(f"{time.process_time() - start:.0f} s of CPU time")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""How much of what is planted a review tells as dangerous, how often it is wrong, and how long it takes.

    python tests/benchmarks/review.py [CORPUS]

CORPUS is a folder of saved listings, `KIND/SERVER/VERSION/*.json`; without it only the sentences of
`tests/poisons.json` and made-up tools are reviewed. Prints the numbers of docs/reference/review.md.
"""

import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from corpus import releases, surface, versions  # noqa: E402 - a folder of the tests, found above
from poisons import HELD_OUT, INJECTED, KNOWN, PLACES  # noqa: E402

from toolnotary_verifier.definition import Kind  # noqa: E402
from toolnotary_verifier.review import Finding, Review, Risk, review  # noqa: E402
from toolnotary_verifier.surface import Surface, assemble  # noqa: E402

_EMPTY = Surface(definitions={}, inspected=frozenset(Kind))
_BOUND = 5.0  # CPU seconds for a thousand changed tools


def share(part: int, whole: int) -> str:
    """`12 of 40 (30 %)`."""
    return f"{part} of {whole} ({100 * part / max(1, whole):.1f} %)"


def told(sentence: str, place: str) -> bool:
    """Whether a sentence that is planted at a place is told as dangerous."""
    tool, planted = (
        {"name": "search", "description": "Searches.", "inputSchema": {"type": "object"}} for _ in "ab"
    )
    PLACES[place](planted, sentence)
    found = review(assemble({Kind.TOOL: [tool]}), assemble({Kind.TOOL: [planted]}))
    return found.risk >= Risk.HIGH


def recall() -> None:
    """What of the sentences is found, in a description and in every place."""
    for name, sentences in (("injected", INJECTED), ("known", KNOWN), ("held out", HELD_OUT)):
        found = sum(told(sentence, "description") for sentence in sentences)
        everywhere = sum(told(sentence, place) for sentence in sentences for place in PLACES)
        whole = len(sentences) * len(PLACES)
        described = share(found, len(sentences))
        print(f"{name}: {described} in a description, {share(everywhere, whole)} in all places")


def false_alarms(corpus: Path) -> None:
    """Real definitions as if all their text were new, each once; then real releases after one another."""
    seen: set[str] = set()
    loud: set[tuple[str, str, str]] = set()
    rules: Counter[str] = Counter()
    for version in versions(corpus):
        found = surface(version).definitions
        fresh = {key: one for key, one in found.items() if str(one.digest) not in seen}
        seen |= {str(one.digest) for one in fresh.values()}
        for finding in _dangerous(review(_EMPTY, Surface(definitions=fresh, inspected=frozenset(Kind)))):
            loud.add((version.name, finding.kind.value, finding.name))
            rules[finding.rule.id] += 1
    print(f"all text new: {share(len(loud), len(seen))} of the definitions are told; {dict(rules)}")
    changed = alarmed = 0
    for before, after in releases(corpus):
        one = review(surface(before), surface(after))
        changed += bool(one.findings)
        alarmed += one.risk >= Risk.HIGH
    print(f"releases: {share(alarmed, changed)} of those that change anything have a high risk")


def _dangerous(found: Review) -> list[Finding]:
    return [finding for finding in found.findings if finding.risk >= Risk.HIGH]


def speed() -> None:
    """A thousand tools of which each changed in six places."""

    def tools(word: str, bound: int) -> Surface:
        properties = {
            f"p{n}": {"type": "integer", "maximum": bound, "description": f"Number {n} of the {word}."}
            for n in range(4)
        }
        made = (
            {
                "name": f"tool_{n}",
                "description": f"Reads record {n} of the {word}. It returns its fields as text. " * 5,
                "inputSchema": {"type": "object", "title": f"{word}{n}", "properties": properties},
            }
            for n in range(1000)
        )
        return assemble({Kind.TOOL: made})

    old, new = tools("table", 10), tools("list", 20)
    start = time.process_time()
    found = review(old, new)
    spent = time.process_time() - start
    count = len(found.differences)
    print(f"1,000 tools, {count} places: {spent:.1f} s of CPU (bound {_BOUND} s), {len(found.groups)} groups")


if __name__ == "__main__":
    recall()
    if len(sys.argv) > 1:
        false_alarms(Path(sys.argv[1]))
    speed()

# SPDX-License-Identifier: Apache-2.0
"""Rules about two releases of a server, where both sides say who published what."""

from typing import Final

from toolnotary_verifier.review.risk import Risk, Rule

SIGNER_CHANGED: Final = Rule(
    "signer-changed",
    Risk.CRITICAL,
    "signed by somebody else",
    "Whoever took over an account or a package can publish, but not with the key of before.",
    "1.4.0 was signed by release@acme.example, 1.4.1 by another identity",
    "Ask the publisher, on a way that you know already, whether the key is theirs.",
)
ROLLBACK: Final = Rule(
    "rollback",
    Risk.HIGH,
    "an older release in place of a newer one",
    "An old release brings back what was mended since, and its signature is still valid.",
    "sequence 12 was seen, sequence 9 is shown",
    "Take it back only if you know why; else ask who serves the old list.",
)
SERVER_CHANGED: Final = Rule(
    "server-changed",
    Risk.HIGH,
    "published under another name",
    "What was accepted for one server says nothing about another.",
    "io.github.acme/weather became io.github.example/weather",
    "Compare the right two, or accept the other server as a new one.",
)
VERSION_NOT_BUMPED: Final = Rule(
    "version-not-bumped",
    Risk.MEDIUM,
    "other definitions under the same version",
    "Whoever pins a version believes that it stays what it was.",
    "1.4.0 was published twice, with different descriptions",
    "Ask for a new version; accept this one as you would a new one.",
)

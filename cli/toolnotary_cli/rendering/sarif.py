# SPDX-License-Identifier: Apache-2.0
"""A report as SARIF 2.1.0, as code scanning takes it.

Paths are relative to the repository's root (`%SRCROOT%`), every result has a location, and its fingerprint
says which rule speaks of which place: it is the same in every run, whatever else changed. Results beyond what
code scanning keeps are left out, the mildest first.
"""

import hashlib
import json
from typing import Final
from urllib.parse import quote

from toolnotary_cli import __version__
from toolnotary_cli.marking import marked, unmarked
from toolnotary_cli.rendering.excerpt import around, clipped
from toolnotary_cli.rendering.markdown import plain
from toolnotary_cli.rendering.report import Item, Location, Report
from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.review import Risk, Rule

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
# Code scanning reads at most 25,000 results of a run and keeps 5,000.
MOST: Final = 5_000
_HOME: Final = "https://toolnotary.dev"
_LEVEL: Final = {
    Risk.CRITICAL: "error",
    Risk.HIGH: "error",
    Risk.MEDIUM: "warning",
    Risk.LOW: "note",
    Risk.NONE: "note",
}
# What code scanning calls critical begins at 9.0, high at 7.0, medium at 4.0.
_SEVERITY: Final = {
    Risk.CRITICAL: "9.5",
    Risk.HIGH: "8.0",
    Risk.MEDIUM: "5.0",
    Risk.LOW: "2.0",
}
_NAME: Final = 300
_ROOM: Final = 800
_MOST_PLACES: Final = 100


def sarif(report: Report) -> JsonObject:
    """The report as one run."""
    kept = report.items[:MOST]
    rules = {rule.id: rule for item in kept for rule in item.rules}
    places = {rule: place for place, rule in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "toolnotary",
                        "semanticVersion": __version__,
                        "informationUri": _HOME,
                        "rules": [_rule(rule) for rule in rules.values()],
                    }
                },
                "automationDetails": {"id": f"toolnotary/{report.command}/"},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository."}}},
                "results": [_result(item, places) for item in kept],
                "properties": {
                    "findings": len(report.items),
                    "headline": report.headline,
                    "causes": list(report.causes),
                },
            }
        ],
    }


def _rule(rule: Rule) -> JsonObject:
    told = (rule.why, f"For example: {rule.example}", f"What to do: {rule.remedy}")
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": verbatim(rule.title)},
        "fullDescription": {"text": verbatim(rule.why)},
        "help": {
            "text": verbatim("\n\n".join(told)),
            "markdown": verbatim("\n\n".join(map(plain, told))),
        },
        "defaultConfiguration": {"level": _LEVEL[rule.risk]},
        "properties": {
            "tags": ["security", "mcp"],
            "precision": "high",
            **({"security-severity": _SEVERITY[rule.risk]} if rule.risk in _SEVERITY else {}),
        },
    }


def _result(item: Item, places: dict[str, int]) -> JsonObject:
    rule = item.rules[0]
    names = list(dict.fromkeys(place.told for place in item.places[:_MOST_PLACES]))
    return {
        "ruleId": rule.id,
        "ruleIndex": places[rule.id],
        "level": _LEVEL[item.risk],
        "message": {"text": _message(item)},
        "locations": [
            {
                "physicalLocation": _physical(item.location),
                "logicalLocations": [{"fullyQualifiedName": name, "kind": "member"} for name in names],
            }
        ],
        "partialFingerprints": {"toolnotary/v1": fingerprint(item)},
        "properties": {
            "risk": item.risk.value,
            "rules": [one.id for one in item.rules],
            "places": len(item.places),
        },
    }


def _physical(location: Location) -> JsonObject:
    return {
        "artifactLocation": {"uri": quote(location.path, safe="/"), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": location.line},
    }


def _message(item: Item) -> str:
    text = "".join(marked(origin, part) for origin, part in around(item, _ROOM))
    where, detail = unmarked(clipped(item.where, _NAME)), unmarked(item.detail)
    told = [f"{where}: {item.titles}", detail, text, item.rules[0].remedy]
    return verbatim("\n".join(line for line in told if line))


def verbatim(text: str) -> str:
    """A message string that a viewer shows as this text.

    `[text](target)` would be a link (SARIF 2.1.0, 3.11.6), so a blank stands in between. Braces are for
    placeholders, and a literal one is written twice (3.11.5).
    """
    return text.replace("](", "] (").replace("{", "{{").replace("}", "}}")


def fingerprint(item: Item) -> str:
    """Which finding it is, in this run and in the next."""
    first = item.places[0]
    told = [item.rules[0].id, item.server, item.profile, first.kind.value, first.name, first.path]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode("ascii")).hexdigest()


def sarif_text(report: Report) -> str:
    """The report as the text of a file, in pure ASCII."""
    return json.dumps(sarif(report), indent=1, ensure_ascii=True)

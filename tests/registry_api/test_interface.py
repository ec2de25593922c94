# SPDX-License-Identifier: Apache-2.0
"""The interface that clients in other languages are written against (tests/vectors/registry/interface.json).

Not the OpenAPI document itself, whose phrasing changes with the framework's releases: routes, parameters,
media types and the members of every document.
"""

import json
import threading
import warnings
from pathlib import Path
from typing import Any

import httpx2
import pytest
from servers.registry import RunningRegistry

from toolnotary_registry_api.app import create_app
from toolnotary_registry_api.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "vectors" / "registry" / "interface.json"
REFERENCE = ROOT.parent / "docs" / "reference" / "registry-api.md"


def types_of(described: dict[str, Any]) -> list[str]:
    """The types that a member may have."""
    return sorted(str(one["type"]) for one in described["anyOf"])


def interface(openapi: dict[str, Any]) -> dict[str, Any]:
    """What of an OpenAPI document is a promise."""
    return {
        "routes": {
            f"{method.upper()} {path}": {
                "parameters": sorted(
                    f"{parameter['in']} {parameter['name']}{'' if parameter.get('required') else '?'}"
                    for parameter in operation.get("parameters", [])
                ),
                "body": sorted(operation.get("requestBody", {}).get("content", {})),
                "answers": {
                    status: sorted(answer.get("content", {}))
                    for status, answer in sorted(operation["responses"].items())
                },
            }
            for path, operations in openapi["paths"].items()
            for method, operation in operations.items()
        },
        "documents": {
            name: {
                "members": {
                    member: described.get("type") or described.get("$ref") or types_of(described)
                    for member, described in sorted(schema["properties"].items())
                },
                "required": sorted(schema["required"]),
            }
            for name, schema in openapi["components"]["schemas"].items()
            if name.endswith("Out")
        },
    }


def test_the_interface_is_the_pinned_one(tmp_path: Path) -> None:
    app = create_app(Settings(database=f"sqlite:///{tmp_path / 'r.sqlite'}"))
    try:
        assert interface(app.openapi()) == json.loads(PINNED.read_text(encoding="utf-8"))
    finally:
        app.state.storage.close()


def test_every_route_is_in_the_reference(sqlite_registry: RunningRegistry) -> None:
    reference = REFERENCE.read_text(encoding="utf-8")
    routes = json.loads(PINNED.read_text(encoding="utf-8"))["routes"]
    assert [route for route in routes if f"`{route}`" not in reference] == []


def test_a_service_is_put_together_before_its_first_request(
    sqlite_registry: RunningRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The framework does so with the filters of warnings changed, which all threads share."""
    changed_in = []
    enter = warnings.catch_warnings.__enter__

    def noted(filters: "warnings.catch_warnings[Any]") -> Any:
        changed_in.append(threading.current_thread())
        return enter(filters)

    monkeypatch.setattr(warnings.catch_warnings, "__enter__", noted)
    assert httpx2.get(f"{sqlite_registry.url}/livez").status_code == 200
    assert httpx2.get(f"{sqlite_registry.url}/v1/servers/a.example/x").status_code == 404
    assert [thread for thread in changed_in if thread is not threading.main_thread()] == []

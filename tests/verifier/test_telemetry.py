# SPDX-License-Identifier: Apache-2.0
"""Decisions as spans and attributes: docs/reference/telemetry.md."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from proxybench import Wire, pin_scripted
from servers import scripted

from toolnotary_verifier.audit.line import Line
from toolnotary_verifier.guard import telemetry

Json = Any

SETUP = """
import json, sys
sys.path.insert(0, sys.argv[1])
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from gatebench import Bench, tool
from toolnotary_verifier.policy_rules import AuditRules
from toolnotary_verifier.gate import Effects
from toolnotary_verifier.guard.trail import Trail
trail = Trail(AuditRules(enabled=False), server="acme/files", launch=None, tell=print, inspection="parsed")
bench = Bench([tool("a"), tool("b")], every_call=True)
def tell():
    effects = Effects()
    effects.decisions, bench.decisions = bench.decisions, []
    assert trail.decided(effects)
bench.shake_hands()
bench.listed(tool("a"), tool("b", "poison"))
"""
END = """
spans = [{"name": s.name, "attributes": dict(s.attributes), "status": s.status.status_code.name,
          "events": [[e.name, dict(e.attributes)] for e in s.events],
          "took": s.end_time - s.start_time} for s in exporter.get_finished_spans()]
print(json.dumps(spans))
"""


def spans(script: str) -> list[Json]:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + script + END, str(ROOT / "tests")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_a_call_is_told_by_attributes_of_the_span_that_is_open() -> None:
    script = """
tell()
exporter.clear()
tracer = trace.get_tracer("host")
with tracer.start_as_current_span("execute_tool a"):
    bench.call("a", 7); tell()
with tracer.start_as_current_span("execute_tool b"):
    bench.call("b", "eight"); tell()
"""
    passed, refused = spans(script)
    about = {
        "toolnotary.server": "acme/files",
        "toolnotary.inspection": "parsed",
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-06-18",
    }
    assert about.items() <= passed["attributes"].items()
    assert passed["attributes"]["gen_ai.tool.name"] == "a"
    assert passed["attributes"]["jsonrpc.request.id"] == "7"
    assert passed["attributes"]["toolnotary.verdict"] == "allow"
    assert passed["attributes"]["toolnotary.decided_by"] == "pin"
    told = refused["attributes"]
    assert (told["toolnotary.verdict"], told["toolnotary.reason"], told["error.type"]) == (
        "block",
        "changed",
        "changed",
    )
    assert told["toolnotary.digest.live"] != told["toolnotary.digest.pinned"]
    assert [name for name, _ in refused["events"]] == ["toolnotary.refused"]


def test_where_no_span_is_open_each_decision_is_one() -> None:
    found = spans('bench.call("b", 1); tell()\n')
    assert [span["name"] for span in found] == ["toolnotary judged", "toolnotary judged", "tools/call b"]
    assert [span["status"] for span in found] == ["UNSET", "UNSET", "ERROR"]
    assert found[0]["attributes"]["toolnotary.outcome"] == "drift"
    assert all(span["took"] >= 0 for span in found)
    assert "poison" not in json.dumps(found)


def test_an_exporter_that_is_broken_takes_no_tool_away() -> None:
    script = """
class Broken(SimpleSpanProcessor):
    def on_start(self, *_, **__): raise RuntimeError("broken")
provider.add_span_processor(Broken(exporter))
bench.call("a", 1); tell()
assert bench.asked()["params"]["name"] == "a"
"""
    assert spans(script) == []


def test_every_attribute_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "telemetry.md").read_text(encoding="utf-8")
    whole = Line(
        "refused",
        server="s",
        launch="l",
        connection="c",
        inspection="wire",
        protocol="p",
        kind="tool",
        name="n",
        live="l",
        pinned="p",
        verdict="block",
        outcome="drift",
        reason="changed",
        by="policy",
        request=1,
        change_set="c",
    )
    told = {
        name
        for kind in ("tool", "prompt", "resource")
        for name in telemetry.attributes(whole._replace(kind=kind))
    }
    assert len(told) >= 18
    assert [name for name in sorted(told) if f"`{name}`" not in page] == []


def test_nothing_is_told_where_nobody_loaded_opentelemetry() -> None:
    script = (
        "import toolnotary_verifier.guard as guard, sys;"
        "print(guard.telemetry.is_wanted(), 'opentelemetry' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.skipif(sys.platform == "win32", reason="the host of this test speaks through pipes of POSIX")
def test_the_proxy_tells_its_decisions_where_an_sdk_is_configured(tmp_path: Path) -> None:
    argv = scripted.command({"tools": [*scripted.TOOLS, scripted.tool("more", "More.")]})
    pin_scripted(argv)
    told = tmp_path / "spans.json"
    script = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
provider = TracerProvider()
out = open({str(told)!r}, "a")
line = lambda span: span.to_json(indent=None) + chr(10)
provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(out=out, formatter=line)))
trace.set_tracer_provider(provider)
import sys
from toolnotary_cli.entry import main
sys.exit(main(sys.argv[1:]))
"""
    run = ["run", "--server", "acme/files", "--", *argv]
    with Wire([sys.executable, "-c", script, *run]) as host:
        host.shake_hands()
        host.tools()
        assert not host.call("echo", 1)[0]
        assert host.call("more", 2)[0]
        assert host.end() == 0
    found = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    calls = {span["name"]: span["attributes"] for span in found if span["name"].startswith("tools/call")}
    assert calls.keys() == {"tools/call echo", "tools/call more"}
    assert calls["tools/call more"]["toolnotary.reason"] == "added"
    lines = (Path(os.environ["TOOLNOTARY_HOME"]) / "audit.jsonl").read_text(encoding="utf-8")
    assert '"refused"' in lines
    assert '"allowed"' not in lines, "the file has what the policy wants"

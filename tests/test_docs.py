# SPDX-License-Identifier: Apache-2.0
"""The documentation says what the code does: commands, error codes, the tests that the threat model names."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SLICES = (
    "verifier/toolnotary_verifier",
    "signer/toolnotary_signer",
    "registry_api/toolnotary_registry_api",
    "cli/toolnotary_cli",
)


def _sources() -> list[Path]:
    return [path for folder in SLICES for path in sorted((ROOT / folder).rglob("*.py"))]


def _names(node: ast.AST | None) -> set[str]:
    """All names that an expression mentions, those inside of quoted annotations too."""
    text = ast.unparse(node) if node is not None else ""
    return set(re.findall(r"\w+", text))


def _literals(node: ast.expr) -> set[str]:
    if isinstance(node, ast.IfExp):
        return _literals(node.body) | _literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _tellers(nodes: list[ast.AST]) -> dict[str, int]:
    """Whatever takes a code, and its place among the arguments: errors, what makes one, faults."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    errors = {"ToolnotaryError"}
    while (
        more := {found.name for found in classes if any(_names(base) & errors for base in found.bases)}
        - errors
    ):
        errors |= more
    found = {**dict.fromkeys(errors, 0), "Fault": 2}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            names = [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
            if any(one.arg == "code" for one in node.args.kwonlyargs):
                found[node.name] = len(names)
            elif "code" in names and _names(node.returns) & errors:
                found[node.name] = names.index("code")
    return found


def _codes_in_the_code() -> set[str]:
    nodes = [node for path in _sources() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    tellers = _tellers(nodes)
    codes = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            at = tellers.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
            if at is not None:
                told = [*node.args[at : at + 1], *(one.value for one in node.keywords if one.arg == "code")]
                codes |= {code for value in told for code in _literals(value)}
        elif isinstance(node, ast.Assign) and any(_names(target) == {"code"} for target in node.targets):
            codes |= _literals(node.value)
    return codes - {""}


def _codes_in_the_docs() -> set[str]:
    text = (ROOT / "docs" / "reference" / "codes.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", text, re.MULTILINE))


def test_every_error_code_is_explained() -> None:
    codes = _codes_in_the_code()
    assert len(codes) > 150
    assert codes - _codes_in_the_docs() == set()


def test_every_explained_code_exists() -> None:
    literals = "\n".join(path.read_text(encoding="utf-8") for path in _sources())
    assert [code for code in sorted(_codes_in_the_docs()) if f'"{code}"' not in literals] == []


@pytest.mark.parametrize(("page", "written"), [("commands.md", "page"), ("review.md", "review_page")])
def test_a_generated_page_is_what_the_code_says(page: str, written: str) -> None:
    script = (
        f"import sys; sys.path.insert(0, 'docs'); import generate; sys.stdout.write(generate.{written}())"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8") == told.stdout, "run make docs"


def test_every_test_that_the_threat_model_names_exists() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/.]+\.py)::(test_\w+)`", text)
    assert len(named) >= 15
    for path, test in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (
            f"{path}::{test}"
        )


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    ]
    assert links
    broken = [pair for pair in links if "://" not in pair[1] and not (pair[0].parent / pair[1]).exists()]
    assert broken == []


def _readme_commands() -> dict[str, str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- (\w+) -->\n\n    (.+)\n\n<!-- end -->", text)
    return dict(found)


def test_the_readme_gives_two_commands_of_one_line_each() -> None:
    commands = _readme_commands()
    assert sorted(commands) == ["demo", "tests"]
    assert commands["demo"].endswith("toolnotary demo")
    assert commands["tests"].endswith(".venv/bin/pytest")


def test_the_readme_names_only_commands_that_exist() -> None:
    from toolnotary_cli.main import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\btoolnotary ([a-z]+)\b", text))
    assert named - set(COMMANDS) - {"is", "ends"} == set()

# SPDX-License-Identifier: Apache-2.0
"""The four distributions: what they need and carry, and how little a host gets with the verifier."""

import importlib
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SLICES = ("verifier", "signer", "registry_api", "cli")
# Modules that import an extra at their top, and are themselves imported only where it is installed.
NEED_AN_EXTRA = (
    "toolnotary_verifier.canonical.accelerated",
    "toolnotary_verifier.shells.bridge",
    "toolnotary_verifier.shells.gateway",
    "toolnotary_verifier.shells.mcp",
)
# Extras of which the workspace has nothing: one environment can hold but one major of what they bring, so
# that each has environments of its own (tests/prepare.py).
ELSEWHERE = {"mcp"}
WHEELHOUSE = ROOT / ".tests" / "wheelhouse"


def _project(folder: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project


def _ours(requirement: str) -> bool:
    return requirement.startswith("toolnotary")


def _needs(project: dict[str, Any]) -> set[str]:
    extras = project.get("optional-dependencies", {})
    groups = [project["dependencies"], *(extras[name] for name in extras if name not in ELSEWHERE)]
    return {need for group in groups for need in group if not _ours(need)}


def test_the_workspace_needs_exactly_what_the_four_distributions_need() -> None:
    union = set().union(*(_needs(_project(folder)) for folder in SLICES))
    assert set(_project(".")["dependencies"]) == union


def test_the_four_distributions_and_the_workspace_carry_one_version() -> None:
    versions = {folder: _project(folder)["version"] for folder in (".", *SLICES)}
    modules = {folder: importlib.import_module(f"toolnotary_{folder}").__version__ for folder in SLICES}
    assert set(versions.values()) | set(modules.values()) == {versions["."]}


def test_the_distributions_pin_each_other_to_their_own_version() -> None:
    for folder in SLICES:
        project = _project(folder)
        groups = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
        for need in (need for group in groups for need in group if _ours(need)):
            assert need.endswith(f"=={project['version']}"), f"{folder}: {need}"


@pytest.mark.parametrize("folder", SLICES)
def test_every_distribution_carries_the_licence_and_its_types(folder: str) -> None:
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (ROOT / folder / f"toolnotary_{folder}" / "py.typed").is_file()


def test_every_file_that_can_hold_a_comment_names_its_licence_at_its_head() -> None:
    kinds = ("*.py", "*.mjs", "*.toml", "Makefile", ".ci/run")
    tracked = subprocess.run(["git", "ls-files", *kinds], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in tracked.stdout.decode("utf-8").split("\n") if name]
    assert {path.suffix for path in files} >= {".py", ".mjs", ".toml", ""}
    bare = [str(path) for path in files if path.is_file() and not _named(path)]
    assert not bare


def test_every_other_file_is_spoken_for() -> None:
    """REUSE.toml names the licence of formats that have no comment, or no room for one at their head."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name for name in tracked.stdout.split("\n") if name and (ROOT / name).is_file()}
    (annotation,) = tomllib.loads((ROOT / "REUSE.toml").read_text(encoding="utf-8"))["annotations"]
    assert annotation["SPDX-License-Identifier"] == "Apache-2.0"
    spoken_for = {
        path.relative_to(ROOT).as_posix() for glob in annotation["path"] for path in ROOT.glob(glob)
    }
    bare = {name for name in names if not _named(ROOT / name) and Path(name).name != "LICENSE"}
    assert bare - spoken_for == set()
    assert {Path(name).suffix for name in bare} <= {".json", ".md", ".typed", ".txt"}


def _named(path: Path) -> bool:
    head = path.read_text(encoding="utf-8").split("\n", 2)[:2]
    return any(line.lstrip("#/ ") == "SPDX-License-Identifier: Apache-2.0" for line in head)


def test_no_lock_names_an_address() -> None:
    locks = [path for path in ROOT.rglob("*") if _is_lock(path)]
    assert ROOT / "requirements-dev.txt" in locks
    assert len(locks) >= 4, "the locks of the test servers are here too"
    for path in locks:
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path
        if path.suffix == ".txt":
            assert "--hash=sha256:" in text, path


def _is_lock(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    if any(part.startswith(".") or part == "node_modules" for part in parts):
        return False
    return path.name == "package-lock.json" or re.fullmatch(r"requirements.*\.txt", path.name) is not None


def test_the_lock_that_names_addresses_by_design_is_ignored_by_git() -> None:
    asked = subprocess.run(["git", "check-ignore", "uv.lock"], cwd=ROOT, capture_output=True, check=False)
    assert asked.returncode == 0


def test_a_host_that_installs_the_verifier_alone_gets_four_distributions(tmp_path: Path) -> None:
    """Few dependencies and no server code; built and installed from the wheelhouse, without a network."""
    if not WHEELHOUSE.is_dir():
        pytest.skip("the wheelhouse is empty: run tests/prepare.py first")
    offline = ["--no-index", "--find-links", str(WHEELHOUSE), "--disable-pip-version-check"]
    built = tmp_path / "dist"
    pip = [sys.executable, "-m", "pip"]
    build = [
        *pip,
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(built),
        str(ROOT / "verifier"),
    ]
    subprocess.run(build, check=True)
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "lean", with_pip=True)
    python = tmp_path / "lean" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", *offline, str(wheel)], check=True)
    script = "import importlib.metadata as m; print(*sorted(d.name.lower() for d in m.distributions()))"
    listed = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert set(listed) - {"pip", "setuptools"} == {"toolnotary-verifier", "cryptography", "cffi", "pycparser"}
    # Every room imports there, but for the one that an extra brings: none reaches for what is not declared.
    modules = (ROOT / "verifier" / "toolnotary_verifier").rglob("*.py")
    paths = sorted(path.relative_to(ROOT / "verifier").with_suffix("").as_posix() for path in modules)
    rooms = {path.replace("/", ".").removesuffix(".__init__") for path in paths}
    rooms -= {room for room in rooms if f"{room}.".startswith(tuple(f"{name}." for name in NEED_AN_EXTRA))}
    subprocess.run([python, "-I", "-c", "import " + ", ".join(sorted(rooms))], check=True, cwd=tmp_path)

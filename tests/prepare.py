# SPDX-License-Identifier: Apache-2.0
"""Builds, once for each lock, what the tests need beside the workspace itself: standard library only.

    .venv/bin/python tests/prepare.py           build what is missing or was built from another lock
    .venv/bin/python tests/prepare.py --force   build everything anew

| what | from | to |
|---|---|---|
| servers from PyPI, which pin their own SDK | tests/servers/pypi/requirements.txt | .tests/pypi |
| the protocol's Python SDK, 1.x | tests/servers/mcp1/requirements.txt | .tests/mcp1 |
| the protocol's Python SDK, 2.x, for servers of our own | tests/servers/mcp2/requirements.txt | .tests/mcp2 |
| wheels, for installs with no index at hand | cli/requirements.txt | .tests/wheelhouse |
| frameworks that embed a client of the protocol | tests/frameworks/NAME/requirements.txt | .tests/NAME |
| servers from npm, if node is present | tests/servers/npm/package-lock.json | node_modules beside it |
| verifiers from npm, if node is present | tests/node/package-lock.json | node_modules beside it |
| conformance suite from npm, likewise | tests/node/conformance/package-lock.json | node_modules beside it |

All of it comes from hashed locks through pip's and npm's own settings; all of it is ignored by git.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / ".tests"
PYPI = BUILT / "pypi"
MCP2 = BUILT / "mcp2"
WHEELHOUSE = BUILT / "wheelhouse"
STAMPS = BUILT / "stamps"


class StepError(Exception):
    """A step that could not be done, with all that a reader needs."""


@dataclass(frozen=True)
class Step:
    """One thing to build: `build` makes `target` from `lock`, if the program `needs` is there."""

    name: str
    lock: Path
    target: Path
    build: Callable[["Step"], None]
    needs: str | None = None

    @property
    def stamp(self) -> Path:
        return STAMPS / self.name

    def fingerprint(self) -> str:
        """What the built target depends on: lock, place, and the interpreter or node that it is for."""
        made_for = f"{ROOT} {platform.platform()} "
        made_for += _version(self.needs) if self.needs else sys.version + sys.prefix
        return hashlib.sha256(self.lock.read_bytes() + made_for.encode()).hexdigest()

    def is_done(self) -> bool:
        if not (self.target.is_dir() and self.stamp.is_file()):
            return False
        return self.stamp.read_text(encoding="ascii") == self.fingerprint()


def _version(program: str) -> str:
    asked = subprocess.run([_found(program), "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def _found(program: str) -> str:
    path = shutil.which(program)  # npm is npm.cmd on Windows
    if path is None:
        raise StepError(f"{program} is not on the PATH")
    return path


def _run(arguments: Sequence[str], *, directory: Path = ROOT) -> None:
    done = subprocess.run(
        arguments,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        tail = "\n    ".join(done.stdout.strip().split("\n")[-15:])
        raise StepError(f"exit code {done.returncode} from: {' '.join(arguments)}\n    {tail}")


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _python_environment(step: Step) -> None:
    venv.create(step.target, with_pip=True, clear=True)
    python = _python(step.target)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    _run([*pip, "--require-hashes", "-r", str(step.lock)])


def _wheels(step: Step) -> None:
    step.target.mkdir(parents=True)
    # The environment in use may have no pip of its own (uv makes such); the one that was just built has.
    pip = [str(_python(PYPI)), "-m", "pip", "--disable-pip-version-check", "download", "-q"]
    _run([*pip, "--require-hashes", "--only-binary", ":all:", "-d", str(step.target), "-r", str(step.lock)])


def _node_modules(step: Step) -> None:
    _run([_found("npm"), "ci", "--no-fund", "--no-audit", "--ignore-scripts"], directory=step.lock.parent)


def _npm(name: str, folder: Path) -> Step:
    return Step(name, folder / "package-lock.json", folder / "node_modules", _node_modules, needs="node")


# Each pins an SDK of its own, so that none can share an environment with another one or with the workspace.
FRAMEWORKS = ("langchain", "openai_agents", "pydantic_ai", "google_adk")


def _framework(name: str) -> Step:
    return Step(name, ROOT / f"tests/frameworks/{name}/requirements.txt", BUILT / name, _python_environment)


STEPS = (
    Step("pypi", ROOT / "tests/servers/pypi/requirements.txt", PYPI, _python_environment),
    Step("mcp1", ROOT / "tests/servers/mcp1/requirements.txt", BUILT / "mcp1", _python_environment),
    Step("mcp2", ROOT / "tests/servers/mcp2/requirements.txt", MCP2, _python_environment),
    Step("wheelhouse", ROOT / "cli/requirements.txt", WHEELHOUSE, _wheels),
    *map(_framework, FRAMEWORKS),
    _npm("npm", ROOT / "tests/servers/npm"),
    _npm("node", ROOT / "tests/node"),
    _npm("conformance", ROOT / "tests/node/conformance"),
)


def _do(step: Step, *, force: bool) -> str:
    if step.needs and not (shutil.which(step.needs) and shutil.which("npm")):
        return f"skipped: {step.needs} is not here, and the tests that use it will say so"
    if step.is_done() and not force:
        return "as its lock says"
    began = time.monotonic()
    print(f"{step.name}: building from {step.lock.relative_to(ROOT)} ...", flush=True)
    step.stamp.unlink(missing_ok=True)
    shutil.rmtree(step.target, ignore_errors=True)
    step.build(step)
    STAMPS.mkdir(parents=True, exist_ok=True)
    step.stamp.write_text(step.fingerprint(), encoding="ascii")  # last: an interrupted build leaves none
    return f"built in {time.monotonic() - began:.0f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what is missing; 0, or 1 with a message if a step failed."""
    parser = argparse.ArgumentParser(description="Build what the tests need beside the workspace itself.")
    parser.add_argument("--force", action="store_true", help="build everything anew")
    force = parser.parse_args(arguments).force
    BUILT.mkdir(exist_ok=True)
    for step in STEPS:
        if not step.lock.is_file():
            print(f"{step.name}: {step.lock.relative_to(ROOT)} is missing", file=sys.stderr)
            return 1
        try:
            print(f"{step.name}: {_do(step, force=force)}", flush=True)
        except StepError as failed:
            print(f"{step.name}: {failed}", file=sys.stderr)
            return 1
        except OSError as error:
            print(f"{step.name}: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

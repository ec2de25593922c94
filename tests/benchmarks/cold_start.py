# SPDX-License-Identifier: Apache-2.0
"""CPU time of short commands as ratios to `python -c pass`, paired within one run.

    python tests/benchmarks/cold_start.py [ROUNDS]

Bounds: --help at most 5, check of a saved 66 KB listing at most 6. The command is the installed one, with its
bytecode beside it.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TOOLNOTARY = str(Path(sys.executable).parent / "toolnotary")
_LISTING_BYTES = 66_000


def cpu_seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def listing(folder: Path) -> Path:
    """A saved listing of about 66 KB."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What to look for."}},
    }
    tools: list[dict[str, object]] = []
    while len(json.dumps(tools)) < _LISTING_BYTES:
        number = len(tools)
        tools.append(
            {
                "name": f"tool_{number}",
                "description": f"Looks for text, way {number}. " * 20,
                "inputSchema": schema,
            }
        )
    path = folder / "listing.json"
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return path


def pin(home: Path, listing: Path) -> None:
    """Pin everything in a listing, as `lock` and an acceptance would."""
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.moves import pin_surface
    from toolnotary_verifier.project import Project
    from toolnotary_verifier.saved import read_saved

    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    launch = Launch.from_command(["server"], base=home, environment={}, folder=home)
    pin_surface(read_saved([listing.read_bytes()]), server="pinned", launch=launch).apply(project)


def main(rounds: int) -> None:
    """Print the median ratio of each command."""
    with tempfile.TemporaryDirectory() as folder:
        saved = listing(Path(folder))
        pin(Path(folder), saved)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["TOOLNOTARY_HOME"] = folder
        commands = {
            "--version": [TOOLNOTARY, "--version"],
            "--help": [TOOLNOTARY, "--help"],
            "diff, equal, 66 KB": [TOOLNOTARY, "diff", str(saved), str(saved)],
            "check, not pinned, 66 KB": [TOOLNOTARY, "check", "--server", "other", str(saved)],
            "check, pinned, 66 KB": [TOOLNOTARY, "check", "--server", "pinned", str(saved)],
        }
        for name, command in commands.items():
            ratios = [
                cpu_seconds(command, environment) / cpu_seconds([sys.executable, "-c", "pass"], environment)
                for _ in range(rounds)
            ]
            print(f"{statistics.median(ratios):5.2f}  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)

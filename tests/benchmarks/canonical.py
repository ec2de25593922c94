# SPDX-License-Identifier: Apache-2.0
"""What the canonical form costs, as ratios that hold on any machine: `python tests/benchmarks/canonical.py`.

Time is CPU time of this thread. Each round measures `json.loads` of the same bytes and the contender one
after the other, and what is printed is the median of the rounds' ratios: a busy machine disturbs both alike.
Memory is the peak of a fresh process over what it needed before, divided by the size of the input (Linux).
"""

import argparse
import gc
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from toolnotary_verifier import canonical
from toolnotary_verifier.canonical import CanonicalError, Digest
from toolnotary_verifier.canonical.repeat import Repeat

WORDS = str.split(
    "the file to read path of a directory list search query result optional limit number returns string when "
    "given only used for repository branch commit issue page token format start end"
)
FOREIGN = ["größe", "日本語", "поиск", "🔍", "émission", "🚀"]


def tools(count: int, *, foreign: float = 0.0, floats: bool = False) -> list[dict[str, object]]:
    """As many tools as asked for, about 1.3 KB each; `foreign` is the share of words that are not ASCII."""
    chance = random.Random(count)  # noqa: S311 (text to measure with)

    def prose(words: int) -> str:
        chosen = (chance.choice(FOREIGN if chance.random() < foreign else WORDS) for _ in range(words))
        return " ".join(chosen).capitalize() + "."

    def parameter() -> dict[str, object]:
        kind = chance.choice(["string", "integer", "array", "object", "boolean"])
        schema: dict[str, object] = {"type": kind, "description": prose(chance.randint(6, 16))}
        if kind == "array":
            schema["items"] = {"type": "string"}
        if kind == "object":
            schema["properties"] = {
                "text": {"type": "string"},
                "other": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            }
        if kind == "integer":
            schema |= {"minimum": 0, "maximum": chance.randint(1, 1000)}
        if floats:
            schema |= {"minimum": 0.0, "multipleOf": chance.random(), "examples": [1e-7, 1.0, 2.5e30]}
        return schema

    listed: list[dict[str, object]] = []
    for index in range(count):
        properties = {
            f"p{number}_{chance.choice(WORDS)}": parameter() for number in range(chance.randint(3, 7))
        }
        schema = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": properties,
            "required": list(properties)[:2],
            "additionalProperties": False,
        }
        listed.append(
            {
                "name": f"tool_{index}",
                "title": prose(3),
                "description": prose(chance.randint(20, 60)),
                "inputSchema": schema,
                "annotations": {"readOnlyHint": True},
            }
        )
    return listed


def response(listed: list[dict[str, object]], *, compact: bool = True, ascii_only: bool = False) -> bytes:
    """The line that answers `tools/list`."""
    message = {"jsonrpc": "2.0", "id": 7, "result": {"tools": listed}}
    separators = (",", ":") if compact else (", ", ": ")
    return json.dumps(message, separators=separators, ensure_ascii=ascii_only).encode()


def listings() -> dict[str, bytes]:
    """The inputs of the speed table."""
    return {
        "5 compact": response(tools(5)),
        "50 compact": response(tools(50)),
        "500 compact": response(tools(500)),
        "50 spaced": response(tools(50), compact=False),
        "50 escaped": response(tools(50, foreign=0.1), compact=False, ascii_only=True),
        "50 not ASCII": response(tools(50, foreign=0.03)),
        "50 float-rich": response(tools(50, floats=True)),
        "500 float-rich": response(tools(500, floats=True)),
    }


def hostile(size: int = 1_000_000) -> dict[str, bytes]:
    """Inputs of about one megabyte that are as expensive as JSON of that size can be made."""

    def listing(schema: bytes) -> bytes:
        return b'{"result":{"tools":[{"name":"a","inputSchema":' + schema + b"}]}}"

    def array(item: bytes) -> bytes:
        return listing(b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]")

    keys = b",".join(b'"%x":0' % number for number in range(size // 9))
    return {
        "emoji in one string": listing(b'"' + "😀".encode() * (size // 4) + b'"'),
        "emoji in keys": listing(
            b"{" + b",".join(b'"%x\xf0\x9f\x98\x80":0' % n for n in range(size // 13)) + b"}"
        ),
        "many keys": listing(b"{" + keys + b"}"),
        "many keys, one repeated": listing(b"{" + keys + b',"0":0}'),
        "repeated keys": array(b'{"a":0,"a":0}'),
        "empty arrays": array(b"[]"),
        "small objects": array(b'{"a":0}'),
        "digits": array(b"0"),
        "fractions": array(b"1.5"),
        "exponents": array(b"9e9"),
        "small exponents": array(b"1e-7"),
        "big integers": array(b"9007199254740993"),
        "integers of 310 digits": array(b"9" * 310),
        "overflows": array(b"1e999"),
        "long integer": listing(b"9" * size),
        "long fraction": listing(b"0." + b"9" * size),
        "long exponent": listing(b"1e" + b"9" * size),
        "constants": array(b"NaN"),
        "depth 60": array(b"[" * 60 + b"]" * 60),
        "depth 120": array(b"[" * 120 + b"]" * 120),
        "open arrays": b"[" * size,
        "open objects": b'{"a":' * (size // 5),
        "mismatched": b"[}" * (size // 2),
        "backslashes": listing(b'"' + b"\\\\" * (size // 2) + b'"'),
        "escaped controls": listing(b'"' + b"\\u0000" * (size // 6) + b'"'),
        "escaped surrogates": array(b'"\\ud800"'),
        "one lone surrogate": listing(b'"' + b"a" * size + b'\\ud800"'),
        "not UTF-8": listing(b'"' + b"\xff" * size + b'"'),
        "many strings not UTF-8": array(b'"\xff"'),
        "open string": b'{"result":"' + b"a" * size,
        "quotes": array(b'""'),
        "brackets in strings": array(b'"[{"'),
    }


def judged(line: bytes) -> dict[int, str]:
    """Strict parse and a digest, or the error's code, for each tool: what is compared with the pins."""
    try:
        entries = canonical.parse_message(line)["result"]["tools"]
    except CanonicalError as error:
        return {0: error.code}
    digests: dict[int, str] = {}
    for index, entry in enumerate(entries):
        try:
            digests[index] = Digest.of(canonical.canonical_bytes(entry, parsed=True))
        except CanonicalError as error:
            digests[index] = error.code
    return digests


def spent(action: Callable[[], object]) -> int:
    """CPU time of this thread for one call, in nanoseconds."""
    begin = time.thread_time_ns()
    action()
    return time.thread_time_ns() - begin


def ratio(action: Callable[[], object], base: Callable[[], object], rounds: int) -> float:
    """The median over all rounds of the action's time divided by that of `base` in the same round."""
    gc.collect()
    gc.disable()
    seen = []
    for _ in range(rounds):
        unit = spent(base)
        seen.append(spent(action) / unit)
    gc.enable()
    return statistics.median(seen)


def speed() -> None:
    """Print the table of times for honest listings."""
    print(
        f"{'CPU time, x json.loads of the same bytes':<44}"
        f"{'reference':>12}{'accelerated':>12}{'seen before':>12}"
    )
    for name, line in listings().items():
        label = f"{name} ({len(line):,} bytes)"
        found = [compared(line, "reference"), compared(line, "accelerated"), seen_before(line)]
        print(f"{label:<44}{found[0]:>12.2f}{found[1]:>12.2f}{found[2]:>12.4f}")


def rounds_for(line: bytes) -> int:
    """More rounds for what takes less time."""
    return max(20, min(300, 20_000_000 // len(line)))


def compared(line: bytes, implementation: Literal["accelerated", "reference"]) -> float:
    """Strict parse, digests and comparison with the pins."""
    canonical.prefer(implementation)
    pins = judged(line)
    return ratio(lambda: judged(line) == pins, lambda: json.loads(line), rounds_for(line))


def seen_before(line: bytes) -> float:
    """Recognizing the same line: a hundred times in a row, as one call takes less time than the clock."""
    repeat = Repeat.of(line)
    assert repeat is not None
    again = bytes(bytearray(line))

    def recognize() -> None:
        for _ in range(100):
            repeat.answers(again, b"7")

    return ratio(recognize, lambda: json.loads(line), rounds_for(line)) / 100


def measure(implementation: Literal["accelerated", "reference"]) -> None:
    """In a process of its own: print the time and peak memory of judging what stands on stdin."""
    line = sys.stdin.buffer.read()
    canonical.prefer(implementation)
    judged(response(tools(1)))  # imports and tables are not the input's cost
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew (Linux)
    before = peak()
    cost = spent(lambda: judged(line)) / 1e9
    grown = peak() - before
    outcome = next(iter(judged(line).values()))
    print(json.dumps([cost, grown / len(line), outcome[:18]]))


def peak() -> int:
    """The most memory that this process held at once, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def apart(line: bytes, implementation: str) -> tuple[float, float, str]:
    """CPU seconds, peak memory over the size of the input, and outcome, measured in a fresh process."""
    command = [sys.executable, __file__, "--measure", implementation]
    done = subprocess.run(command, input=line, capture_output=True, check=True)
    cost, memory, outcome = json.loads(done.stdout)
    return cost, memory, outcome


def memory() -> None:
    """Print the peak memory for honest listings."""
    print(f"\n{'peak memory, x input':<44}{'reference':>12}{'accelerated':>12}")
    for name, line in listings().items():
        if name.startswith("500"):
            found = [apart(line, implementation)[1] for implementation in ("reference", "accelerated")]
            print(f"{name:<44}{found[0]:>12.1f}{found[1]:>12.1f}")


def attacks() -> None:
    """Print CPU seconds and peak memory for hostile inputs."""
    print(
        f"\n{'hostile 1 MB: CPU s, peak memory x input':<44}"
        f"{'reference':>12}{'':>8}{'accelerated':>12}{'':>8}  outcome"
    )
    for name, line in hostile().items():
        slow = apart(line, "reference")
        fast = apart(line, "accelerated")
        print(f"{name:<44}{slow[0]:>12.3f}{slow[1]:>8.1f}{fast[0]:>12.3f}{fast[1]:>8.1f}  {fast[2]}")


TABLES = {"speed": speed, "memory": memory, "hostile": attacks}


def main() -> None:
    """Print the tables asked for, or measure one input where another process asks for it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--measure", choices=["accelerated", "reference"], help=argparse.SUPPRESS)
    options.add_argument("tables", nargs="*", default=list(TABLES))
    chosen = options.parse_args()
    if chosen.measure:
        measure(chosen.measure)
        return
    print(f"Python {sys.version.split()[0]}; accelerated: {canonical.prefer('accelerated')}")
    for table in chosen.tables:
        TABLES[table]()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the stdio proxy costs, as ratios that hold on any machine: `python tests/benchmarks/relay.py`.

Calls: one host sends `tools/call` lines of about 200 bytes, one after the other, through a relay to a server
that answers at once. Measured is the CPU time of the relay alone, by the kernel's own count of its threads.
Every round runs the relays in turn, and the medians of the rounds' ratios are printed:

- `splice`: two threads that move bytes in the kernel and look at nothing: as cheap as a relay gets.
- `gate, fast` and `gate`: the proxy with and without extra `fast`.

Listing: the host lists again and again, 66 KB that stay as they were; beside `lines`, two threads that read a
line and write it. Large: one answer of 10 MB, beside `cat`, which copies; memory is what the proxy holds
more, at most, while it passes, over the size.

Start: CPU time of `toolnotary run` until its first relayed byte, against that of `python -c pass`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOOL = {"name": "echo", "description": "Gives back text.", "inputSchema": {"type": "object"}}
SERVER = """
import os, sys
TOOLS = sys.argv[1].encode()
ANSWER = b'"result":{"content":[{"type":"text","text":"' + b"x" * 120 + b'"}]}}\\n'
buffer = b""
while chunk := os.read(0, 65536):
    buffer += chunk
    while (end := buffer.find(b"\\n")) >= 0:
        line, buffer = buffer[:end], buffer[end + 1:]
        at = line.find(b'"id":')
        if at < 0:
            continue
        stop = min(place for place in (line.find(b",", at), line.find(b"}", at)) if place > 0)
        head = b'{"jsonrpc":"2.0",' + line[at:stop] + b","
        if b'"big"' in line:
            os.write(1, head + ANSWER.replace(b"x", b"x" * (10 << 20), 1))
        elif b'"tools/list"' in line:
            os.write(1, head + b'"result":{"tools":[' + TOOLS + b"]}}\\n")
        elif b'"initialize"' in line:
            os.write(1, head + b'"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
                     b'"serverInfo":{"name":"s","version":"1"}}}\\n')
        else:
            os.write(1, head + ANSWER)
"""
ENTRY = [sys.executable, "-S", "-E", "-c", SERVER, json.dumps(TOOL)]
BIG = 10 << 20
# Fifty tools, 66 KB in all.
MANY = [{**TOOL, "name": f"echo_{number}", "description": "Gives back text. " * 73} for number in range(50)]
LISTING = [*ENTRY[:-1], json.dumps(MANY)[1:-1]]


def splice(entry: list[str]) -> None:
    """The relay that looks at nothing."""
    child = subprocess.Popen(entry, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018

    def move(source: int, sink: int) -> None:
        while os.splice(source, sink, 1 << 16):
            pass
        os.close(sink)

    for source, sink in ((0, child.stdin.fileno()), (child.stdout.fileno(), 1)):
        threading.Thread(target=move, args=(source, sink), daemon=True).start()
    child.wait()
    os._exit(0)


def lines(entry: list[str]) -> None:
    """The relay that reads lines."""
    child = subprocess.Popen(entry, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018

    def move(source: int, sink: int) -> None:
        with os.fdopen(source, "rb", 1 << 16) as stream:
            for line in stream:
                os.write(sink, line)
        os.close(sink)

    for source, sink in ((0, child.stdin.fileno()), (os.dup(child.stdout.fileno()), 1)):
        threading.Thread(target=move, args=(source, sink), daemon=True).start()
    child.wait()
    os._exit(0)


def cat(entry: list[str]) -> None:
    """The relay that copies: this process waits, its children do the work."""
    first = subprocess.Popen(["cat"], stdout=subprocess.PIPE)
    server = subprocess.Popen(entry, stdin=first.stdout, stdout=subprocess.PIPE)
    subprocess.Popen(["cat"], stdin=server.stdout).wait()
    os._exit(0)


def gate(entry: list[str], implementation: Any) -> None:
    """The proxy, with a judge that lets everything through."""
    from toolnotary_verifier import canonical, process
    from toolnotary_verifier.gate import Gate
    from toolnotary_verifier.shells.log import Log
    from toolnotary_verifier.shells.stdio import Proxy
    from toolnotary_verifier.surface import Surface
    from toolnotary_verifier.verdict import Judgement, Outcome

    def judge(surface: Surface) -> Judgement:
        return Judgement("bench", Outcome.VERIFIED, (), surface.definitions)

    canonical.prefer(implementation)
    proxy = Proxy(process.start(entry, stderr="inherit"), Gate(judge, server="bench"), Log("bench"))
    proxy.run()


RELAYS: dict[str, Callable[[list[str]], None]] = {
    "splice": splice,
    "lines": lines,
    "cat": cat,
    "gate, fast": lambda entry: gate(entry, "accelerated"),
    "gate": lambda entry: gate(entry, "reference"),
}
OURS = ("gate, fast", "gate")


def cpu(pid: int) -> int:
    """CPU time of all threads of a process so far, in nanoseconds."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


def cpu_with_cats(pid: int) -> int:
    """CPU time of a process and of those of its children that copy."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    copying = [int(one) for one in children if Path(f"/proc/{one}/comm").read_text("ascii") == "cat\n"]
    return cpu(pid) + sum(map(cpu, copying))


def peak(pid: int) -> int:
    """The most memory that a process held at once, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def call(number: int) -> bytes:
    """A tools/call of about 200 bytes, as both SDKs write it: compact, the method first."""
    params = {"name": "echo", "arguments": {"text": "y" * 100}}
    message = {"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": number}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class Session:
    """A host with one relay."""

    def __init__(self, argv: list[str], **more: Any) -> None:
        self.relay = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **more)
        assert self.relay.stdin is not None and self.relay.stdout is not None  # noqa: PT018
        self.stdin, self.stdout = self.relay.stdin.fileno(), self.relay.stdout.fileno()

    def ask(self, line: bytes) -> bytes:
        """One request and its answer."""
        os.write(self.stdin, line)
        answer = bytearray()
        while not answer.endswith(b"\n"):
            part = os.read(self.stdout, 1 << 16)
            if not part:
                raise SystemExit("the relay ended before it answered")
            answer += part
        return bytes(answer)

    def end(self) -> None:
        """Close it and wait."""
        assert self.relay.stdin is not None
        self.relay.stdin.close()
        self.relay.wait()


def calls(relay: str, count: int) -> float:
    """Microseconds of CPU time of one relay for one call."""
    session = Session([sys.executable, __file__, "--relay", relay])
    session.ask(b'{"jsonrpc":"2.0","id":0,"method":"tools/list"}\n')
    for number in range(1, 200):
        session.ask(call(number))
    before = cpu(session.relay.pid)
    for number in range(1000, 1000 + count):
        session.ask(call(number))
    spent = cpu(session.relay.pid) - before
    session.end()
    return spent / count / 1000


def listings(relay: str, count: int) -> float:
    """Microseconds of CPU time of one relay for one listing that stays as it was."""
    session = Session([sys.executable, __file__, "--relay", relay, "--listing"])
    ask = '{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n'
    for number in range(20):
        assert b"echo_49" in session.ask((ask % number).encode())
    before = cpu(session.relay.pid)
    for number in range(100, 100 + count):
        session.ask((ask % number).encode())
    spent = cpu(session.relay.pid) - before
    session.end()
    return spent / count / 1000


def large(relay: str) -> tuple[float, float]:
    """Milliseconds of CPU time of one relay for one large answer, and memory over its size."""
    session = Session([sys.executable, __file__, "--relay", relay])
    session.ask(b'{"jsonrpc":"2.0","id":0,"method":"tools/list"}\n')
    Path(f"/proc/{session.relay.pid}/clear_refs").write_text("5", encoding="ascii")
    before, held = cpu_with_cats(session.relay.pid), peak(session.relay.pid)
    params = {"name": "echo", "arguments": {"big": 1}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    received = session.ask(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    if len(received) < BIG:
        raise SystemExit(f"{relay} answered {received[:200]!r}")
    spent = cpu_with_cats(session.relay.pid) - before
    memory = (peak(session.relay.pid) - held) / BIG
    session.end()
    return spent / 1e6, memory


def beside(base: str, rounds: int, measure: Callable[[str], float]) -> dict[str, tuple[float, float]]:
    """For each of our relays the median ratio to the base, measured in turn, and the median itself."""
    spent = [{relay: measure(relay) for relay in (base, *OURS)} for _ in range(rounds)]
    return {
        relay: (
            statistics.median(one[relay] / one[base] for one in spent),
            statistics.median(one[relay] for one in spent),
        )
        for relay in (base, *OURS)
    }


def bare() -> float:
    """Milliseconds of CPU time of an interpreter that does nothing."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], os.environ)
    used = os.wait4(pid, 0)[2]
    return (used.ru_utime + used.ru_stime) * 1000


def start(home: Path) -> float:
    """Milliseconds of CPU time of `toolnotary run` until its first relayed byte."""
    argv = [str(Path(sys.executable).parent / "toolnotary"), "run", "--server", "acme/bench", "--", *ENTRY]
    # An installed command has its bytecode beside it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["TOOLNOTARY_HOME"] = str(home)
    session = Session(argv, env=environment, stderr=subprocess.DEVNULL)
    session.ask(b'{"jsonrpc":"2.0","id":0,"method":"ping"}\n')
    # The process that was started waits; its only child does the work.
    worker = int(Path(f"/proc/{session.relay.pid}/task/{session.relay.pid}/children").read_text("ascii"))
    spent = (cpu(session.relay.pid) + cpu(worker)) / 1e6
    session.end()
    return spent


def pin(home: Path) -> None:
    """Pin the server's one tool, as `lock` and an acceptance would."""
    from toolnotary_verifier.definition import Definition, Kind
    from toolnotary_verifier.equivalence import normal_digest
    from toolnotary_verifier.launch import Launch
    from toolnotary_verifier.lockfile import Lockfile, Pin, UnsignedEntry

    launch = Launch.from_command(ENTRY, base=home, environment=os.environ, folder=Path.cwd())
    tool = Definition.of(Kind.TOOL, TOOL)
    pins = (Pin(Kind.TOOL, tool.name, tool.digest, normal_digest(tool)),)
    entry = UnsignedEntry(server="acme/bench", launch=launch.identity, recorded=launch.recorded, pins=pins)
    Lockfile().with_entry(entry).save(home / "toolnotary.lock")


def main() -> None:
    """Run the rounds and print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--relay", choices=list(RELAYS), help=argparse.SUPPRESS)
    parser.add_argument("--listing", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.relay:
        RELAYS[arguments.relay](LISTING if arguments.listing else ENTRY)
        return
    rounds = arguments.rounds
    for relay, (ratio, micros) in beside("splice", rounds, lambda one: calls(one, arguments.calls)).items():
        print(f"call      {relay:12} {ratio:5.2f} x splice   {micros:6.1f} us CPU")
    for relay, (ratio, micros) in beside("lines", rounds, lambda one: listings(one, 400)).items():
        print(f"listing   {relay:12} {ratio:5.2f} x lines    {micros:6.1f} us CPU")
    for relay, (ratio, millis) in beside("cat", rounds, lambda one: large(one)[0]).items():
        memory = f"   {large(relay)[1]:5.2f} x its size in memory" if relay in OURS else ""
        print(f"large     {relay:12} {ratio:5.2f} x cat      {millis:6.1f} ms CPU{memory}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pin(home)
        start(home)  # once for the files' sake
        ratios, ours = [], []
        for _ in range(arguments.rounds * 3):
            nothing = bare()
            ours.append(start(home))
            ratios.append(ours[-1] / nothing)
    ratio, spent_ms = statistics.median(ratios), statistics.median(ours)
    print(f"start     {'run':12} {ratio:5.2f} x python -c pass   {spent_ms:6.1f} ms CPU")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the stdio proxy costs, as ratios that hold on any machine: `python tests/benchmarks/relay.py`.

Calls: one host sends `tools/call` lines of about 200 bytes, one after the other, through a relay to a server
that answers at once. Measured is the CPU time of the relay alone, by the kernel's own count of its threads.
Every round runs the relays in turn, and the medians of the rounds' ratios are printed:

- `splice`: two threads that move bytes in the kernel and look at nothing: as cheap as a relay gets.
- `gate, fast` and `gate`: the proxy with and without extra `fast`.

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
        if b'"tools/list"' in line:
            os.write(1, head + b'"result":{"tools":[' + TOOLS + b"]}}\\n")
        elif b'"initialize"' in line:
            os.write(1, head + b'"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
                     b'"serverInfo":{"name":"s","version":"1"}}}\\n')
        else:
            os.write(1, head + ANSWER)
"""
ENTRY = [sys.executable, "-S", "-E", "-c", SERVER, json.dumps(TOOL)]


def splice() -> None:
    """The relay that looks at nothing."""
    child = subprocess.Popen(ENTRY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018

    def move(source: int, sink: int) -> None:
        while os.splice(source, sink, 1 << 16):
            pass
        os.close(sink)

    for source, sink in ((0, child.stdin.fileno()), (child.stdout.fileno(), 1)):
        threading.Thread(target=move, args=(source, sink), daemon=True).start()
    child.wait()
    os._exit(0)


def gate(implementation: Any) -> None:
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
    proxy = Proxy(process.start(ENTRY, stderr="inherit"), Gate(judge, server="bench"), Log("bench"))
    proxy.run()


RELAYS: dict[str, Callable[[], None]] = {
    "splice": splice,
    "gate, fast": lambda: gate("accelerated"),
    "gate": lambda: gate("reference"),
}


def cpu(pid: int) -> int:
    """CPU time of all threads of a process so far, in nanoseconds."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


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
        answer = b""
        while not answer.endswith(b"\n"):
            part = os.read(self.stdout, 1 << 16)
            if not part:
                raise SystemExit("the relay ended before it answered")
            answer += part
        return answer

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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.relay:
        RELAYS[arguments.relay]()
        return
    spent = [{relay: calls(relay, arguments.calls) for relay in RELAYS} for _ in range(arguments.rounds)]
    for relay in RELAYS:
        ratio = statistics.median(one[relay] / one["splice"] for one in spent)
        micros = statistics.median(one[relay] for one in spent)
        print(f"{relay:12} {ratio:5.2f} x splice   {micros:6.1f} us CPU a call")
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
    print(f"start        {ratio:5.2f} x python -c pass   {spent_ms:6.1f} ms CPU")


if __name__ == "__main__":
    main()

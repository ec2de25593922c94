# SPDX-License-Identifier: Apache-2.0
"""What the HTTP gateway costs, as ratios that hold on any machine: `python tests/benchmarks/gateway.py`.

Hosts send `tools/call` requests of about 250 bytes over connections that stay open, to a server that answers
at once. Measured is the CPU time of the proxy alone, by the kernel's own count of its threads. Every round
runs the proxies in turn, with one connection and with eight, and the medians of the ratios are printed:

- `nginx`: `proxy_pass` with kept connections, which looks at nothing (Debian's package nginx-light).
- `gateway`: `toolnotary gateway` before a server whose tools are pinned, each call through the gate.

Memory is the most that the gateway holds more while an answer of 10 MB passes, divided by its size.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from relay import TOOL, cpu  # type: ignore[import-not-found]  # beside this file

BIG = 10 << 20
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream server {{ server 127.0.0.1:{server}; keepalive 32; }}
  server {{
    listen 127.0.0.1:{port}; keepalive_requests 1000000;
    location / {{ proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


class Server(asyncio.Protocol):
    """A connection of a server that answers at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Answer whatever is whole."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n") + 4) > 3:
            head = self.received[:end].lower()
            at = head.find(b"content-length:") + 15
            size = int(head[at : head.find(b"\r", at)]) if at > 14 else 0
            if len(self.received) < end + size:
                return
            body, self.received = self.received[end : end + size], self.received[end + size :]
            answer = _answer(body)
            kind = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
            status = b"HTTP/1.1 200 OK\r\n" if answer else b"HTTP/1.1 202 Accepted\r\n"
            self.transport.write(status + kind + answer)  # type: ignore[attr-defined]


def _answer(body: bytes) -> bytes:
    if b'"tools/call"' in body and b'"big"' not in body:
        return b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"%b"}]}}' % (b"x" * 120)
    message = json.loads(body)
    result: object = {"tools": [TOOL]}
    if message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "x" * BIG}]}
    if message["method"] == "initialize":
        about = {"serverInfo": {"name": "s", "version": "1"}, "capabilities": {"tools": {}}}
        result = {"protocolVersion": "2025-06-18", **about}
    if "id" not in message:
        return b""
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()


def serve() -> None:
    """Serve on a free port, which is printed."""

    async def work() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(work())


def request(name: str = "echo", text: str = "y" * 100) -> bytes:
    """One call."""
    params = {"name": name, "arguments": {"text": text}}
    body = json.dumps({"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": 7}).encode()
    accept = b"content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
    return b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n%bcontent-length: %d\r\n\r\n%b" % (
        accept,
        len(body),
        body,
    )


def calls(port: int, count: int) -> None:
    """As many calls over one connection, one after the other."""
    sent = request()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(count):
            connection.sendall(sent)
            received = b""
            while not received.endswith(b"}]}}"):
                part = connection.recv(1 << 16)
                if not part:
                    raise SystemExit("the proxy ended before it answered")
                received += part
            if b"isError" in received:
                raise SystemExit(received.decode())


def spent(port: int, pid: int, connections: int, count: int) -> float:
    """Microseconds of CPU time of a proxy for one call."""
    calls(port, 50)
    threads = [threading.Thread(target=calls, args=(port, count // connections)) for _ in range(connections)]
    before = cpu(pid)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(cpu(pid) - before) / count / 1000


@contextlib.contextmanager
def running(*argv: str, **more: object) -> Iterator["subprocess.Popen[str]"]:
    """A process, until the block ends."""
    process = subprocess.Popen(argv, text=True, **more)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def pin(home: Path, url: str) -> None:
    """Pin the server's one tool, as a person does."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from terminal import at_terminal

    environment = {"TOOLNOTARY_HOME": str(home)}
    session = at_terminal(
        ["lock", "--server", "acme/bench", url],
        ("[yes/no]", "yes\n"),
        environment=environment,
        directory=home,
    )
    if session.code:
        raise SystemExit(session.shown)


def gateway_port(process: "subprocess.Popen[str]") -> int:
    """Where it listens, as it tells."""
    assert process.stderr is not None
    for line in process.stderr:
        if " listening on " in line:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return int(line.rpartition(":")[2].partition("/")[0])
    raise SystemExit("the gateway did not start")


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def peak(pid: int) -> int:
    """The most memory that a process held at once, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def memory(port: int, pid: int) -> float:
    """The most that a gateway holds more while a large answer passes, over its size."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    before = peak(pid)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request(text="big").replace(b'"text": "big"', b'"big":  "now"'))
        received = 0
        while received < BIG:
            part = connection.recv(1 << 20)
            if not part or (not received and b" 200 " not in part[:16]):
                raise SystemExit(f"the gateway did not answer: {part[:300]!r}")
            received += len(part)
    return (peak(pid) - before) / BIG


def main() -> None:
    """Run the rounds and print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    if shutil.which("nginx") is None:
        raise SystemExit("nginx is not installed: apt-get install nginx-light")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running(sys.executable, __file__, "--serve", stdout=subprocess.PIPE))
        assert server.stdout is not None
        port, front = int(server.stdout.readline()), free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, server=port, port=front), "ascii")
        nginx = stack.enter_context(running("nginx", "-c", str(folder / "nginx.conf")))
        url = f"http://127.0.0.1:{port}/mcp"
        pin(folder, url)
        argv = [str(Path(sys.executable).parent / "toolnotary"), "gateway", "--server", "acme/bench"]
        environment = {**os.environ, "TOOLNOTARY_HOME": str(folder)}
        ours = stack.enter_context(
            running(*argv, "--upstream", url, "--port", "0", env=environment, stderr=subprocess.PIPE)
        )
        gateway = gateway_port(ours)
        time.sleep(1)
        worker = int(Path(f"/proc/{nginx.pid}/task/{nginx.pid}/children").read_text("ascii"))
        for connections in (1, 8):
            rounds = [
                (
                    spent(front, worker, connections, arguments.calls),
                    spent(gateway, ours.pid, connections, arguments.calls),
                )
                for _ in range(arguments.rounds)
            ]
            ratio = statistics.median(own / plain for plain, own in rounds)
            plain, own = (statistics.median(column) for column in zip(*rounds, strict=True))
            print(
                f"{connections} at once   {ratio:5.2f} x nginx   {own:6.1f} us CPU a call, nginx {plain:5.1f}"
            )
        print(f"10 MB       {memory(gateway, ours.pid):5.2f} x its size in memory")


if __name__ == "__main__":
    main()

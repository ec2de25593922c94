# SPDX-License-Identifier: Apache-2.0
"""CPU time of the registry's process for each request, as ratios to its cheapest route (Linux).

Run: python tests/benchmarks/registry.py [REQUESTS]
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from servers.publisher import NOW, SERVER, Publisher

from toolnotary_registry_api.publication import claim
from toolnotary_registry_api.storage import Storage


def cpu_seconds(process: int) -> float:
    """User and system time that the process has used so far, in seconds (proc(5), fields 14 and 15)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the table."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    publisher = Publisher()
    releases = [publisher.release(f"1.{number}", sequence=number + 1) for number in range(requests)]
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/registry.sqlite"
        with closing(Storage.open(database)) as storage:
            claim(storage, "io.github.acme/*", publisher.pem, at=NOW)
        command = [sys.executable, "-m", "toolnotary_cli", "serve", "--port", "0", "--database", database]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
            assert service.stderr is not None
            address = service.stderr.readline().strip().rpartition("//")[2]
            connection = http.client.HTTPConnection(address)

            def ask(method: str, path: str, body: str | None = None) -> None:
                connection.request(method, path, body, {"content-type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                assert answer.status in (200, 201), answer.status

            asks: dict[str, Callable[[int], None]] = {
                "GET /livez": lambda _: ask("GET", "/livez"),
                "POST /v1/manifests": lambda n: ask(
                    "POST", "/v1/manifests", json.dumps(releases[n].submission)
                ),
                "GET /v1/blobs/...": lambda n: ask("GET", f"/v1/blobs/sha256/{releases[n].digest.hex}"),
                "GET .../versions/V": lambda n: ask("GET", f"/v1/servers/{SERVER}/versions/1.{n}"),
            }
            floor = None
            for name, one in asks.items():
                before = cpu_seconds(service.pid)
                for number in range(requests):
                    one(number)
                spent = (cpu_seconds(service.pid) - before) / requests
                floor = floor or spent
                print(f"{name:20} {spent * 1e6:8.0f} us CPU a request {spent / floor:6.1f} x GET /livez")
            connection.close()
            service.terminate()


if __name__ == "__main__":
    main()

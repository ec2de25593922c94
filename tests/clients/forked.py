# SPDX-License-Identifier: Apache-2.0
"""A program whose modules are loaded once: each run of it is a copy of a process that waits (POSIX).

python HOST SOCKET                          waits, where HOST calls `serve`
python -S tests/clients/forked.py SOCKET ARGUMENT    one run; its exit code is that of the run
"""

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

_FAILED = 1


def serve(path: str, run: Callable[[str], None]) -> None:
    """Run what is asked for at this socket, each in a process of its own with the asker's environment."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            asker, _ = listener.accept()
            if os.fork():
                asker.close()
                continue
            listener.close()
            _answer(asker, run)


def _answer(asker: socket.socket, run: Callable[[str], None]) -> None:
    code = _FAILED
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with asker.makefile("r", encoding="utf-8") as said:
            asked = json.loads(said.readline())
        os.environ.update(asked["environment"])
        run(asked["argument"])
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the asker is told that it failed
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        asker.sendall(bytes([code]))
        os._exit(code)


def _ask(path: str, argument: str) -> int:
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        server.sendall(
            json.dumps({"environment": dict(os.environ), "argument": argument}).encode("utf-8") + b"\n"
        )
        return (server.recv(1) or bytes([_FAILED]))[0]


if __name__ == "__main__":
    sys.exit(_ask(Path(sys.argv[1]).as_posix(), sys.argv[2]))

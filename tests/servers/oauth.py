# SPDX-License-Identifier: Apache-2.0
"""An MCP server that wants a token, and the authorization server that gives it, both on loopback.

The client finds it by RFC 9728 and RFC 8414, registers itself (RFC 7591), and gets a code for everybody who
asks, and a token for the code and the verifier of its challenge (RFC 7636). A new token makes the one before
it invalid.
"""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from servers import http_server

Json = Any


@dataclass
class Protected:
    """Both, while they run.

    Attributes:
        server: the MCP server.
        issuer: the URL of the authorization server.
        challenges: what each code was given for.
        tokens: how many were given.
    """

    server: http_server.Served
    issuer: str
    challenges: dict[str, str] = field(default_factory=dict)
    tokens: int = 0

    def metadata(self, path: str) -> Json:
        """What is published, None under any other path."""
        if path.startswith("/.well-known/oauth-protected-resource"):
            return {"resource": self.server.url, "authorization_servers": [self.issuer]}
        if path.startswith("/.well-known/oauth-authorization-server"):
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "registration_endpoint": f"{self.issuer}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        return None

    def granted(self, asked: dict[str, str]) -> Json:
        """A token for a code, None for whoever cannot prove that it was given to him."""
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        proven = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if self.challenges.pop(asked.get("code", ""), None) != proven or asked["resource"] != self.server.url:
            return None
        self.tokens += 1
        self.server.script["token"] = f"token-{self.tokens}"
        return {"access_token": self.server.script["token"], "token_type": "Bearer", "expires_in": 3600}


@contextlib.contextmanager
def protected(**script: Any) -> Iterator[Protected]:
    """Both, until the block ends; the script is that of `http_server`."""
    with http_server.serve(**script) as server:
        listener = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        running = Protected(server, f"http://127.0.0.1:{listener.server_port}")
        listener.running = running  # type: ignore[attr-defined]  # handlers reach it through their server
        listener.daemon_threads = True
        known = f"{running.issuer}/.well-known/oauth-protected-resource/mcp"
        server.script.update(token="none that was given", challenge=f'Bearer resource_metadata="{known}"')
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield running
        finally:
            listener.shutdown()
            listener.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    @property
    def running(self) -> Protected:
        return self.server.running  # type: ignore[attr-defined,no-any-return]  # set by `protected`

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        place = urllib.parse.urlsplit(self.path)
        if place.path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(place.query))
            code = secrets.token_hex(8)
            self.running.challenges[code] = asked["code_challenge"]
            told = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": self.running.issuer})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{told}")
            self.end_headers()
        else:
            self.answer(self.running.metadata(place.path), missing=404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/register":
            self.answer({**json.loads(body), "client_id": "acme-host"}, status=201)
        else:
            self.answer(self.running.granted(dict(urllib.parse.parse_qsl(body.decode()))), missing=400)

    def answer(self, document: Json, *, status: int = 200, missing: int = 400) -> None:
        content = json.dumps(document or {"error": "invalid_grant"}).encode()
        self.send_response(status if document else missing)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

# SPDX-License-Identifier: Apache-2.0
"""Files of hosts as people write them: one for each dialect, with comments, odd blanks and placeholders."""

from toolnotary_cli.hosts import dialects
from toolnotary_cli.hosts.dialects import Dialect

JSON_SERVERS = """{
  "theme": "dark",
  "KEY": {
    "notes": {
      "command": "npx",
      "args": ["-y", "@acme/notes@1.4.0", "--root", "${HOME}/notes"],
      "env": {"TOKEN": "${input:token}", "MODE": "%MODE%"},
      "timeout": 30,
      "autoApprove": []
    },
    "time": {"command": "uvx mcp-server-time --local"},
    "windows": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]},
    "bare": {"command": "acme-server"   },
    "lines": {
      "type": "stdio",
      "args": [
        "run",
        "--rm"
      ],
      "command": "docker"
    },
    "empty": {"command": "acme", "args": [ ], "cwd": "/tmp"}
  },
  "last": [1, 2.50, "\\u0041"]
}
"""
CLAUDE_CODE = """{
  "projects": {"/home/u/acme": {"mcpServers": {"inner": {"type": "stdio", "command": "npx", "args": ["x"]}}}},
  "mcpServers": {"outer": {"command": "node", "args": ["/srv/a b/server.js"]}}
}
"""
FLAT = """{"notes": {"command": "npx", "args": ["-y", "notes"]}, "about": {"author": "acme"}}
"""
OPENCODE = """{
  // comment
  "mcp": {
    "notes": {"type": "local", "command": ["npx", "-y", "notes"], "environment": {"A": "b"}, "enabled": true},
    "lines": {
      "command": [
        "bun",
        "x"
      ]
    }
  },
}
"""
ZED = """// settings
{
  "context_servers": {
    "new": {"source": "custom", "command": "x", "args": ["a"], "env": {}},
    "old": {"command": {"path": "node", "args": ["server.js"], "env": {"A": "b"}}, "settings": {}}, // why
  },
  /* more */ "vim_mode": true,
}
"""
CODEX = """# mine
model = "o9" # the model

[mcp_servers.notes]   # notes
command = "npx"       # why
args = ["-y", 'notes', "${HOME}"]
env = { "TOKEN" = "secret" }
startup_timeout_sec = 20

[mcp_servers.bare]
command = 'acme'

[mcp_servers.bare.env]
A = "b"

[mcp_servers."with blank"]
command = "docker"
args = [
\t"run",  # tab
\t"--rm",
]

[profiles.fast]
model = "o9-mini"
"""
GOOSE = """# goose
GOOSE_MODEL: x
extensions:
  developer:
    type: builtin
    enabled: true
  notes:   # mine
    cmd: npx      # why
    args:
      - -y        # yes
      - 'notes'
    envs: {TOKEN: secret}
    type: stdio
    timeout: 300
  bare:
    cmd: "acme"
    enabled: true
  flow: {cmd: uvx, args: [x, "y z"]}
"""
CONTINUE = """name: mine
mcpServers:
- name: notes
  command: npx
  args:
  - "-y"
  - notes
  env:
    TOKEN: ${{ secrets.TOKEN }}
- command: acme   # no arguments
  name: bare
"""


def _servers(key: str) -> str:
    return JSON_SERVERS.replace("KEY", key)


SAMPLES: dict[int, str] = {
    id(dialects.SERVERS): _servers("mcpServers"),
    id(dialects.WINDSURF): _servers("mcpServers"),
    id(dialects.GEMINI): _servers("mcpServers"),
    id(dialects.KIRO): _servers("mcpServers"),
    id(dialects.VSCODE): _servers("servers"),
    id(dialects.VSCODE_SETTINGS): '{"mcp": ' + _servers("servers").rstrip() + "}\n",
    id(dialects.CLAUDE_CODE): CLAUDE_CODE,
    id(dialects.PLUGIN): FLAT,
    id(dialects.OPENCODE): OPENCODE,
    id(dialects.ZED): ZED,
    id(dialects.CODEX): CODEX,
    id(dialects.GOOSE): GOOSE,
    id(dialects.CONTINUE): CONTINUE,
}


def sample(dialect: Dialect) -> str:
    """A file of this dialect."""
    return SAMPLES[id(dialect)]

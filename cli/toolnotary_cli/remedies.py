# SPDX-License-Identifier: Apache-2.0
"""What to do about an error whose own room cannot know it: a parser does not know whose file it reads.

By code (docs/reference/codes.md). An error that knows better carries its own remedy, which goes before these.
"""

from typing import Final

from toolnotary_verifier.errors import ToolnotaryError

_NOT_A_RESULT = "give what a server answered, or what toolnotary capture wrote; its sender must mend it"
_SERVER = "whoever makes the server must mend this"
_LIMIT = "if that is right, raise the bound in [limits] of your toolnotary.toml (docs/reference/policy.md)"
_DEPTH = (
    "whoever wrote it must nest less; your own bound on a definition is definition-depth in [limits] of your"
    " toolnotary.toml (docs/reference/policy.md)"
)
_SAVED = "give the whole answers of the server, as they came"
_MANIFEST = "take the file as toolnotary capture or sign wrote it, byte for byte; or make it anew"
_BUNDLE = "take the file that toolnotary sign wrote, byte for byte; or fetch it anew"
_STATEMENT = "ask the publisher to sign again: toolnotary sign writes what is expected"
_PUBLIC_KEY = "give the .pub file that toolnotary keygen wrote"
_RESTORE = "restore the file from version control or a backup; nothing falls back to another one"
_PERMISSIONS = "check its name and its permissions"
_LATER = "try again later; what is pinned keeps working without it"

REMEDIES: Final = {
    # What is read as JSON, wherever it comes from.
    "not-json": _NOT_A_RESULT,
    "not-utf8": _NOT_A_RESULT,
    "too-deep": _DEPTH,
    "too-large": _LIMIT,
    "duplicate-key": _SERVER,
    "lone-surrogate": _SERVER,
    "number-range": _SERVER,
    # What a server says of itself.
    "definition-shape": _SERVER,
    "cursor-loop": _SERVER,
    "listing-limit": _LIMIT,
    "listing-shape": _SERVER,
    "no-surface": _SAVED,
    "surface-conflict": "join only answers that one server gave to one client",
    "ambiguous-name": _SERVER,
    "answer-shape": _SERVER,
    "batch": _SERVER,
    "http-status": "check the URL, and what the server needs to be asked",
    "session-ended": "ask it again",
    "unauthorized": "give its credentials; toolnotary capture takes them with --header NAME=VARIABLE",
    "not-http": "check that the URL is that of an MCP endpoint",
    "session-id": _SERVER,
    "protocol-version": "upgrade the server or toolnotary",
    "launch-url": "write https://HOST/PATH",
    "launch-remote": "give the command behind --",
    # What was signed and pinned.
    "bad-digest": "copy it whole, as toolnotary printed it",
    "manifest-inconsistent": _MANIFEST,
    "manifest-limit": "publish fewer profiles, names or variants in one manifest; names can be let through by"
    " [limits] tools in your toolnotary.toml",
    "manifest-shape": _MANIFEST,
    "bundle-media-type": _BUNDLE,
    "bundle-shape": _BUNDLE,
    "envelope-shape": _BUNDLE,
    "key-hint-mismatch": _BUNDLE,
    "sequence": "say --sequence with a whole number from 1 on",
    "statement-predicate": _STATEMENT,
    "statement-shape": _STATEMENT,
    "statement-subject": _STATEMENT,
    "statement-type": _STATEMENT,
    "predicate-type": _STATEMENT,
    "predicate-server": "take manifest and bundle from one publication",
    "predicate-version": "take manifest and bundle from one publication",
    "subject-digest": "take manifest and bundle from one publication",
    "subject-name": "take manifest and bundle from one publication",
    "other-server": "check the name, and that these are the files that you mean",
    "other-version": "check the version, and that these are the files that you mean",
    "revoked": "take another version; only a change of the policy undoes it",
    "key-algorithm": "make a key with toolnotary keygen",
    "key-encoding": _PUBLIC_KEY,
    "key-pem": _PUBLIC_KEY,
    "key-weak": "do not rely on it: make a key with toolnotary keygen",
    # Files of hosts, and what is kept of them.
    "host-entry": "mend the entry in the host's file, or leave it out",
    "host-folder": "name the files that are meant: toolnotary scan FILE",
    "host-fills": "let the host start the server, through toolnotary run",
    "host-file-edit": "change it by hand: docs/reference/hosts.md tells how a wrapped entry reads",
    "host-file-invalid": "mend the file; its host may not read it either",
    "original-corrupt": "remove it, and unwrap takes out what wrap put in; or restore it from a backup",
    # Files of ours.
    "lockfile-corrupt": _RESTORE,
    "lockfile-conflict": "resolve the conflict in version control; both sides were pinned by somebody",
    "lockfile-version": "update toolnotary, or restore the file from version control",
    "lockfile-unreadable": _PERMISSIONS,
    "seen-corrupt": "delete the file; nothing that counts is in it",
    "state-corrupt": _RESTORE,
    "state-unreadable": _PERMISSIONS,
    "object-missing": "commit .toolnotary/objects beside the lockfile, or pin again",
    "object-unreadable": _PERMISSIONS,
    "policy-key": "name the file of one public key in PEM, or put its text there",
    "policy-personal": "take the line out of the project's file, and put it into your own if you want it",
    "policy-syntax": "mend that line; docs/reference/policy.md shows the form",
    "policy-too-lax": "leave the line out: the default is the least that is possible",
    "policy-unknown-key": "mend its name; docs/reference/policy.md lists all of them",
    "policy-unreadable": _PERMISSIONS,
    "policy-value": "mend that value; docs/reference/policy.md lists what is possible",
    "trusted-key-id": "name the key itself in the policy, not another key's id",
    "file-system": "check that it is there, that you may use it, and that there is room",
    # A registry.
    "bad-submission": "send it with toolnotary publish",
    "unsupported-media-type": "send it with toolnotary publish",
    "registry-answer": "check the URL: what answers there is not a registry",
    "registry-unavailable": _LATER,
    # Everything else.
    "demo-step": "run the step's command by hand",
    "internal": "set TOOLNOTARY_DEBUG=1 to see where, and report it",
    "nothing-to-approve": "nothing is to be done",
    "nothing-withheld": "nothing is to be done; toolnotary explain says in which state it is",
    "no-override": "toolnotary status tells what passes",
    "not-overridable": "toolnotary explain says why it is withheld; toolnotary approve may accept it",
    "not-pinned": "toolnotary status lists what is pinned",
}


def remedy_of(error: ToolnotaryError) -> str:
    """What to do about an error; empty where nobody knows."""
    return error.remedy or REMEDIES.get(error.code, "")

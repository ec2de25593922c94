# SPDX-License-Identifier: Apache-2.0
"""What a server that asks back is answered: by a client with no folders, no model and nobody to ask."""

from collections.abc import Collection

from toolnotary_verifier.canonical import JsonObject, plain
from toolnotary_verifier.jsonrpc import METHOD_NOT_FOUND, error, result

_DECLINED = -1  # the code that MCP's examples give for a sampling request which a person rejected


def answered(asked: JsonObject, declared: Collection[str]) -> JsonObject | None:
    """The answer to a request of the server; None where it has no id that an answer could carry.

    Args:
        asked: the request.
        declared: the client capabilities that the server was told of.
    """
    request_id, method = asked["id"], asked["method"]
    if not isinstance(plain(request_id), str | int | float) or isinstance(request_id, bool):
        return None
    if method == "ping":
        return result(request_id, {})
    if method == "roots/list" and "roots" in declared:
        return result(request_id, {"roots": []})
    if method == "elicitation/create" and "elicitation" in declared:
        return result(request_id, {"action": "decline"})
    if method == "sampling/createMessage" and "sampling" in declared:
        return error(request_id, _DECLINED, "nobody is here to approve sampling")
    return error(request_id, METHOD_NOT_FOUND, "this client does not offer that")

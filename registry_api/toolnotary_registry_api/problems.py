# SPDX-License-Identifier: Apache-2.0
"""Every error of the service in one shape: problem details for HTTP (RFC 9457), with our stable codes."""

import json
import logging
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from toolnotary_registry_api.wire import ProblemOut
from toolnotary_verifier.errors import CannotTell, InvalidInput, Refused, ToolnotaryError

MEDIA_TYPE = "application/problem+json"
SECURITY_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_TITLES = {
    400: "the request is not valid",
    403: "refused",
    404: "not found",
    405: "method not allowed",
    408: "the request took too long",
    409: "conflict",
    413: "too large",
    415: "unsupported media type",
    500: "internal error",
    503: "unavailable",
}
_STATUS = {
    "not-in-registry": 404,
    "request-timeout": 408,
    "version-exists": 409,
    "sequence-not-higher": 409,
    "too-large": 413,
    "unsupported-media-type": 415,
}
_ROUTING = {404: "no-such-route", 405: "method-not-allowed"}
_LOG = logging.getLogger(__name__)


def problem(
    status: int, code: str, detail: str, *, remedy: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The answer that says what went wrong; pure ASCII, never cached."""
    document = ProblemOut(
        type=f"https://toolnotary.dev/problems/{code}",
        title=_TITLES.get(status, "error"),
        status=status,
        code=code,
        detail=detail,
        remedy=remedy,
    )
    content = json.dumps(document.model_dump(by_alias=True)).encode("ascii")
    sent = {"cache-control": "no-store", **SECURITY_HEADERS, **(headers or {})}
    return Response(content, status_code=status, media_type=MEDIA_TYPE, headers=sent)


def status_of(error: ToolnotaryError) -> int:
    """The HTTP status of an error: 4xx where the answer is no, 5xx where there is none."""
    if error.code in _STATUS:
        return _STATUS[error.code]
    match error:
        case InvalidInput():
            return 400
        case Refused():
            return 403
        case CannotTell():
            return 503
        case _:
            return 500


def install(app: FastAPI) -> None:
    """Let every error of this application, the framework's own included, become a problem."""
    for kind in (ToolnotaryError, HTTPException, RequestValidationError, ClientDisconnect, Exception):
        app.add_exception_handler(kind, _answer)


async def _answer(_request: Request, error: Exception) -> Response:
    match error:
        case ToolnotaryError():
            return _of_ours(error)
        case HTTPException():
            code, detail = _ROUTING.get(error.status_code, "bad-request"), str(error.detail).lower()
            return problem(error.status_code, code, detail, headers=dict(error.headers or {}))
        case RequestValidationError():
            places = sorted({".".join(str(part) for part in each["loc"][:2]) for each in error.errors()})
            return problem(400, "bad-request", "not valid: " + ", ".join(places))
        case ClientDisconnect():
            return Response(status_code=400)  # nobody reads it: the connection is gone
        case _:
            # The framework logs the exception by itself; its text stays on this side.
            return problem(500, "internal", "the registry failed; its log says why")


def _of_ours(error: ToolnotaryError) -> Response:
    status = status_of(error)
    if status >= 500:
        _LOG.error("%s", error, exc_info=error)
    headers = {"retry-after": "1"} if status == 503 else {}
    return problem(status, error.code, error.message, remedy=error.remedy, headers=headers)

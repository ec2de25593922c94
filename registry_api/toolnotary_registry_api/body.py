# SPDX-License-Identifier: Apache-2.0
"""The body of a request, bounded in size and time while it is read."""

import asyncio

from fastapi import Request

from toolnotary_registry_api.settings import Settings
from toolnotary_verifier.errors import InvalidInput


async def read_body(request: Request, settings: Settings) -> bytes:
    """The JSON body of a request.

    Raises:
        InvalidInput: `unsupported-media-type`, `too-large`, `request-timeout`.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise InvalidInput("unsupported-media-type", "expected a body of type application/json")
    declared = request.headers.get("content-length", "")
    if (
        declared.isascii()
        and declared.isdigit()
        and len(declared) < 20
        and int(declared) > settings.body_bytes
    ):
        raise _too_large(settings)
    body = bytearray()
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > settings.body_bytes:
                    raise _too_large(settings)
    except TimeoutError:
        message = f"the body did not arrive within {settings.body_seconds:g} seconds"
        raise InvalidInput("request-timeout", message, remedy="try again") from None
    return bytes(body)


def _too_large(settings: Settings) -> InvalidInput:
    return InvalidInput("too-large", f"at most {settings.body_bytes} bytes are read")

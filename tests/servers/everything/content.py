# SPDX-License-Identifier: Apache-2.0
"""What the tools, prompts and resources of the everything-server contain."""

import base64
import io
import json
import struct
import wave
import zlib
from typing import Any

Json = Any


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _red_pixel() -> str:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    image = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return base64.b64encode(image).decode()


def _silence() -> str:
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(32))
    return base64.b64encode(written.getvalue()).decode()


def text(said: str) -> dict[str, Json]:
    """A line of text."""
    return {"type": "text", "text": said}


def embedded(uri: str, said: str, kind: str = "text/plain") -> dict[str, Json]:
    """A text resource inside a result."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}}


IMAGE: dict[str, Json] = {"type": "image", "data": _red_pixel(), "mimeType": "image/png"}
AUDIO: dict[str, Json] = {"type": "audio", "data": _silence(), "mimeType": "audio/wav"}
# The tools that say the same each time.
FIXED: dict[str, list[dict[str, Json]]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
    "json_schema_2020_12_tool": [text("The arguments fit.")],
    "test_header_argument": [text("The header fits.")],
}


def prompt(name: str, arguments: dict[str, str]) -> list[dict[str, Json]]:
    """What a prompt's messages contain."""
    if name == "test_simple_prompt":
        return [text("This is a simple prompt for testing.")]
    if name == "test_prompt_with_arguments":
        first, second = arguments["arg1"], arguments["arg2"]
        return [text(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]
    if name == "test_prompt_with_embedded_resource":
        resource = embedded(arguments["resourceUri"], "Embedded resource content for testing.")
        return [resource, text("Please process the embedded resource above.")]
    if name == "test_prompt_with_image":
        return [IMAGE, text("Please analyze the image above.")]
    raise KeyError(name)


def resource(uri: str) -> dict[str, Json]:
    """What a resource contains; KeyError where there is none."""
    if uri == "test://static-binary":
        return {"uri": uri, "mimeType": "image/png", "blob": IMAGE["data"]}
    head, _, tail = uri.partition("test://template/")
    if not head and tail.endswith("/data"):
        found = tail.removesuffix("/data")
        said = json.dumps({"id": found, "templateTest": True, "data": f"Data for ID: {found}"})
        return {"uri": uri, "mimeType": "application/json", "text": said}
    said = {
        "test://static-text": "This is the content of the static text resource.",
        "test://watched-resource": "This may change.",
    }[uri]
    return {"uri": uri, "mimeType": "text/plain", "text": said}

# SPDX-License-Identifier: Apache-2.0
"""What the everything-server shows, as JSON: the names that the public conformance suite calls for."""

from typing import Any

Json = Any
INSTRUCTIONS = "Every tool here is there to be tested."


def _tool(name: str, description: str, **parameters: Json) -> dict[str, Json]:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = list(properties)
    return {"name": name, "description": description, "inputSchema": schema}


# Keywords of JSON Schema 2020-12 that a reader who models schemas would lose.
_ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": _ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_IN_HEADER = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "description": "Where to look.", "x-mcp-header": "Region"},
        "count": {"type": "integer", "minimum": 0},
    },
    "required": ["region"],
}

TOOLS: list[dict[str, Json]] = [
    _tool("test_simple_text", "Says one line of text."),
    _tool("test_image_content", "Shows an image of one pixel."),
    _tool("test_audio_content", "Plays a moment of silence."),
    _tool("test_embedded_resource", "Embeds a text resource."),
    _tool("test_multiple_content_types", "Says a line, shows an image and embeds a resource."),
    _tool("test_tool_with_logging", "Logs three lines while it works."),
    _tool("test_tool_with_progress", "Reports progress three times while it works."),
    _tool("test_error_handling", "Fails, always."),
    _tool("test_sampling", "Asks the model of the client.", prompt="What to ask."),
    _tool("test_elicitation", "Asks the user for a name and an address.", message="What to ask."),
    _tool("test_elicitation_sep1034_defaults", "Asks the user, with a default for every type."),
    _tool("test_elicitation_sep1330_enums", "Asks the user to choose, in every way to choose."),
    _tool("test_list_roots", "Asks the client for its roots."),
    _tool("test_reconnection", "Closes the stream before it answers."),
    _tool("test_wait", "Answers when it is cancelled, and not before."),
    _tool("test_waits_cancelled", "Says how many calls of test_wait were cancelled."),
    _tool("test_missing_capability", "Needs a client that can sample."),
    _tool("test_streaming_elicitation", "Reports progress, then needs to ask the user."),
    _tool("test_logging_tool", "Logs one line, where the request wants logs."),
    _tool("test_trigger_tool_change", "Says that the tools have changed."),
    _tool("test_trigger_prompt_change", "Says that the prompts have changed."),
    _tool("test_trigger_resource_change", "Says that a resource has changed.", uri="Which one."),
    _tool("test_input_required_result_elicitation", "Needs a name from the user."),
    _tool("test_input_required_result_sampling", "Needs an answer from the model of the client."),
    _tool("test_input_required_result_list_roots", "Needs the roots of the client."),
    _tool("test_input_required_result_request_state", "Needs a confirmation, and its own state back."),
    _tool("test_input_required_result_multiple_inputs", "Needs a name, a greeting and the roots."),
    _tool("test_input_required_result_multi_round", "Needs two answers, one after the other."),
    _tool("test_input_required_result_tampered_state", "Needs its own state back, untouched."),
    _tool("test_input_required_result_capabilities", "Needs whatever the client can give."),
    {
        "name": "test_header_argument",
        "description": "Takes an argument that is sent in a header too.",
        "inputSchema": _IN_HEADER,
    },
    {
        "name": "json_schema_2020_12_tool",
        "description": "Takes arguments that only JSON Schema 2020-12 can describe.",
        "inputSchema": _SCHEMA_2020_12,
    },
]
SCHEMAS: dict[str, Json] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}


def _argument(name: str, description: str) -> dict[str, Json]:
    return {"name": name, "description": description, "required": True}


PROMPTS: list[dict[str, Json]] = [
    {"name": "test_simple_prompt", "description": "One line."},
    {
        "name": "test_prompt_with_arguments",
        "description": "One line with two arguments in it.",
        "arguments": [_argument("arg1", "The first."), _argument("arg2", "The second.")],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A resource and a line about it.",
        "arguments": [_argument("resourceUri", "The resource.")],
    },
    {"name": "test_prompt_with_image", "description": "An image and a line about it."},
    {"name": "test_input_required_result_prompt", "description": "Needs something from the user first."},
]
RESOURCES: list[dict[str, Json]] = [
    {
        "uri": "test://static-text",
        "name": "Static text",
        "description": "A text that stays as it is.",
        "mimeType": "text/plain",
    },
    {
        "uri": "test://static-binary",
        "name": "Static image",
        "description": "An image that stays as it is.",
        "mimeType": "image/png",
    },
    {
        "uri": "test://watched-resource",
        "name": "Watched",
        "description": "A text that can be subscribed to.",
        "mimeType": "text/plain",
    },
]
TEMPLATES: list[dict[str, Json]] = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "Template",
        "description": "What belongs to an id.",
        "mimeType": "application/json",
    }
]


def _text_schema(**properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def elicitation(message: str, **properties: Json) -> dict[str, Json]:
    """A question for the user; `properties` maps the names of its fields to their schemas."""
    params = {"mode": "form", "message": message, "requestedSchema": _text_schema(**properties)}
    return {"method": "elicitation/create", "params": params}


def sampling(prompt: str, tokens: int = 100) -> dict[str, Json]:
    """A question for the model of the client."""
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}}


TEXT = {"type": "string"}
ROOTS: dict[str, Json] = {"method": "roots/list", "params": {}}
_NAME = elicitation("What is your name?", name=TEXT)
# What a tool or prompt of the stateless era needs before it answers: rounds of questions by key.
ROUNDS: dict[str, list[dict[str, Json]]] = {
    "test_input_required_result_elicitation": [{"user_name": _NAME}],
    "test_input_required_result_sampling": [{"capital_question": sampling("What is the capital of France?")}],
    "test_input_required_result_list_roots": [{"client_roots": ROOTS}],
    "test_input_required_result_request_state": [
        {"confirm": elicitation("Please confirm", ok={"type": "boolean"})}
    ],
    "test_input_required_result_multiple_inputs": [
        {"user_name": _NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
    ],
    "test_input_required_result_multi_round": [
        {"step1": elicitation("Step 1: What is your name?", name=TEXT)},
        {"step2": elicitation("Step 2: What is your favorite color?", color=TEXT)},
    ],
    "test_input_required_result_tampered_state": [
        {"confirm": elicitation("Please confirm", ok={"type": "boolean"})}
    ],
    "test_input_required_result_capabilities": [
        {"user_name": _NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
    ],
    "test_streaming_elicitation": [{"user_name": _NAME}],
    "test_input_required_result_prompt": [
        {"user_context": elicitation("What context should the prompt use?", context=TEXT)}
    ],
}

_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"{word} choice"} for n, word in enumerate(("First", "Second"), 1)]
DEFAULTS = elicitation(
    "Please look through these",
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
CHOICES = elicitation(
    "Please choose",
    untitledSingle={"type": "string", "enum": _OPTIONS},
    titledSingle={"type": "string", "oneOf": _TITLED},
    legacyEnum={
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": _TITLED}},
)

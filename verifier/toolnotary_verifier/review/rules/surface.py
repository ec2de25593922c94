# SPDX-License-Identifier: Apache-2.0
"""Rules about definitions as a whole, and about their members that are neither text nor schema."""

from typing import Final

from toolnotary_verifier.review.risk import Risk, Rule

NAME_CONFUSABLE: Final = Rule(
    "name-confusable",
    Risk.HIGH,
    "a new name that passes for another one",
    "A model or a person picks the wrong tool: letters look alike, or only case and hyphens differ.",
    "`read_fiIe` beside `read_file`",
    "Do not accept it beside the other one.",
)
TOOL_RENAMED: Final = Rule(
    "tool-renamed",
    Risk.MEDIUM,
    "probably renamed",
    "A new name is a new tool: what was accepted for the old name says nothing about it.",
    "`tavily-search` is gone, `tavily_search` came, and 96 % is the same",
    "Read what else changed, then accept it as a new tool.",
)
TOOL_ADDED: Final = Rule(
    "tool-added",
    Risk.MEDIUM,
    "a new tool",
    "A model can call what nobody has looked at.",
    "`delete_account` is new",
    "Read it as a whole.",
)
PROMPT_ADDED: Final = Rule(
    "prompt-added",
    Risk.MEDIUM,
    "a new prompt",
    "What it brings into a conversation is chosen by the server, later.",
    "the prompt `summarise` is new",
    "Read it as a whole.",
)
INSTRUCTIONS_ADDED: Final = Rule(
    "instructions-added",
    Risk.MEDIUM,
    "instructions where there were none",
    "Hosts put this text before everything that the user says.",
    "`instructions` is new",
    "Read it as a whole.",
)
EXTENSION: Final = Rule(
    "extension-changed",
    Risk.MEDIUM,
    "a member that the protocol does not define",
    "Some hosts read it, and nobody else knows what it does.",
    "`x-preview` was added",
    "Ask what reads it.",
)
RESOURCE_ADDED: Final = Rule(
    "resource-added",
    Risk.LOW,
    "a new resource",
    "It is read when a user or a host asks for it.",
    "`file:///logs/today` is new",
    "See whether you want it read.",
)
REMOVED: Final = Rule(
    "definition-removed",
    Risk.LOW,
    "gone",
    "Less can be called; a model may fall back on another tool.",
    "`read_file` is gone",
    "See whether something else took over.",
)
RESOURCE_CHANGED: Final = Rule(
    "resource-changed",
    Risk.LOW,
    "a member of a resource changed",
    "Name, type and size say how the content is shown, not what it is.",
    "`mimeType` went from text/plain to text/html",
    "Nothing, unless your host renders it.",
)
ARGUMENT_CHANGED: Final = Rule(
    "argument-changed",
    Risk.LOW,
    "the arguments of a prompt changed",
    "A user fills them in, and the server reads them.",
    "the argument `account` was added",
    "See what the user is asked for.",
)
ICONS: Final = Rule(
    "icons-changed",
    Risk.LOW,
    "other icons",
    "A host fetches and shows them; one can look like that of somebody else.",
    "`icons` names another image",
    "Look at it before your users do.",
)
META: Final = Rule(
    "meta-changed",
    Risk.LOW,
    "`_meta` changed",
    "Frameworks and some hosts keep notes of their own there.",
    "`_meta.tags` was added",
    "See whether your host acts on it.",
)
EXECUTION: Final = Rule(
    "execution-changed",
    Risk.LOW,
    "the way of being run changed",
    "It says whether calls run as tasks, which a user sees later.",
    "`execution.taskSupport` became required",
    "Nothing, unless your host does not run tasks.",
)

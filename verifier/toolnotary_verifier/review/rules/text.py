# SPDX-License-Identifier: Apache-2.0
"""Rules about how a text changed, whatever it says."""

from typing import Final

from toolnotary_verifier.review.risk import Risk, Rule

REWORDED: Final = Rule(
    "text-reworded",
    Risk.MEDIUM,
    "other words",
    "The model is told something else.",
    "`Reads a file.` became `Reads or writes a file.`",
    "Read the words that came.",
)
ADDED: Final = Rule(
    "text-added",
    Risk.MEDIUM,
    "a text where there was none",
    "The model is told something else.",
    "a parameter got a description",
    "Read it.",
)
UNGUARDED: Final = Rule(
    "text-unguarded",
    Risk.MEDIUM,
    "a safeguard went, or guards something else",
    "Words such as never and only, and a sentence that asks the user first, bound what a model does.",
    "`Never deletes. Always asks the user.` became `Always deletes. Never asks the user.`",
    "See what is allowed now that was not.",
)
SHORTENED: Final = Rule(
    "text-shortened",
    Risk.LOW,
    "fewer words",
    "What the model is told less of, it may do otherwise.",
    "`Reads a file. It is fast.` became `Reads a file.`",
    "See what went.",
)
REORDERED: Final = Rule(
    "text-reordered",
    Risk.LOW,
    "the same words in another order",
    "Lists that are built from sets change so at every start; a sentence can change its meaning.",
    "`cat, ls, pwd` became `pwd, cat, ls`",
    "See that it is a list.",
)
TITLE: Final = Rule(
    "title-changed",
    Risk.LOW,
    "another title",
    "A person sees it where a tool is picked or allowed.",
    "`Read` became `Read file`",
    "See that it still says what the tool does.",
)
WHITESPACE: Final = Rule(
    "text-whitespace",
    Risk.NONE,
    "only white space",
    "Python 3.13 takes the indentation from docstrings; the words are the same.",
    "four blanks less at the start of each line",
    "Nothing.",
    alike=True,
)

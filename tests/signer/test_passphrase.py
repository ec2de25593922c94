# SPDX-License-Identifier: Apache-2.0
"""Passphrases come from a file that the environment names, or from a person who types a new one twice."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolnotary_signer import passphrase
from toolnotary_verifier.errors import Refused, ToolnotaryError


def answers(*typed: str) -> Callable[[str], str]:
    """A person who types these, one a question."""
    remaining: Iterator[str] = iter(typed)
    return lambda _question: next(remaining)


def nobody(_question: str) -> str:
    raise Refused("no-terminal", "there is none")


def unasked(question: str) -> str:
    raise AssertionError(f"asked: {question}")


def code_of(call: Callable[[], bytes]) -> str:
    with pytest.raises(ToolnotaryError) as caught:
        call()
    return caught.value.code


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "passphrase"
    monkeypatch.setenv(passphrase.VARIABLE, str(path))
    return path


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_file_holds_the_passphrase_with_or_without_a_line_end(file: Path, ending: str) -> None:
    file.write_bytes(f"  pass phrase  {ending}".encode())
    assert passphrase.existing(unasked) == b"  pass phrase  "
    assert passphrase.chosen(unasked) == b"  pass phrase  "


def test_only_one_line_end_is_taken_away(file: Path) -> None:
    file.write_bytes(b"passphrase\n\n")
    assert passphrase.existing(unasked) == b"passphrase\n"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "passphrase-shape"),
        (b"\n", "passphrase-shape"),
        (b"\xff\xfe", "passphrase-file"),
        (b"x" * 2000, "passphrase-shape"),
    ],
)
def test_a_file_that_holds_no_passphrase_is_refused(file: Path, content: bytes, code: str) -> None:
    file.write_bytes(content)
    assert code_of(lambda: passphrase.existing(unasked)) == code


def test_a_file_that_is_not_there_is_an_error_and_nobody_is_asked_in_its_place(file: Path) -> None:
    assert not file.exists()
    assert code_of(lambda: passphrase.existing(unasked)) == "passphrase-file"


def test_a_new_passphrase_is_typed_twice() -> None:
    assert passphrase.chosen(answers("long enough", "long enough")) == b"long enough"
    assert code_of(lambda: passphrase.chosen(answers("long enough", "long enouhg"))) == "passphrase-mismatch"


def test_a_new_passphrase_has_eight_characters_or_more(file: Path) -> None:
    assert code_of(lambda: passphrase.chosen(answers())) == "passphrase-file"
    file.write_text("7 chars", encoding="utf-8")
    assert code_of(lambda: passphrase.chosen(unasked)) == "passphrase-shape"


def test_a_short_passphrase_that_is_typed_is_refused_before_it_is_asked_again() -> None:
    assert code_of(lambda: passphrase.chosen(answers("short"))) == "passphrase-shape"


def test_a_short_passphrase_of_an_old_key_still_opens_it() -> None:
    assert passphrase.existing(answers("x")) == b"x"


@pytest.mark.parametrize("ask", [passphrase.existing, passphrase.chosen])
def test_without_terminal_and_file_the_error_names_the_variable(
    ask: Callable[[Callable[[str], str]], bytes],
) -> None:
    with pytest.raises(ToolnotaryError) as caught:
        ask(nobody)
    assert caught.value.code == "passphrase-needed"
    assert passphrase.VARIABLE in caught.value.remedy


def test_no_error_repeats_what_was_typed() -> None:
    with pytest.raises(ToolnotaryError) as caught:
        passphrase.chosen(answers("secret secret", "secret sekret"))
    assert "secret" not in f"{caught.value} {caught.value.remedy}"

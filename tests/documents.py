# SPDX-License-Identifier: Apache-2.0
"""Random JSON texts for differential tests: fast, from a seed, fond of what parsers disagree about."""

import json
import random

# ASCII, controls, combining marks, what stands on both sides of the surrogates, and beyond U+FFFF.
CHARACTERS = (
    *"abcdefgz AZ09_-.,:;{}[]\"\\/'",
    *"\x00\x01\x08\t\n\f\r\x1f\x7f\x80",
    *"éß\u0301\u017f\u2028\u2029日",
    *"\ud7ff\ue000\ufb33\uffff\ufffd",
    *"\U00010000😀\U000e0041\U0010ffff",
)
INTEGERS = (
    *("0", "-0", "1", "-1", "7", "10", "100", "4294967296", "9007199254740991", "-9007199254740991"),
    *(
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "9223372036854775806",
    ),
    *("-9223372036854775808", "18446744073709551615", "18446744073709551616", "1" + "0" * 30, "9" * 308),
    *(str((1 << 1024) - 1), str(1 - (1 << 1024))),
)
FRACTIONS = (
    *(
        "0.0",
        "-0.0",
        "0e0",
        "0E-5",
        "1.0",
        "1.50",
        "1e0",
        "1E2",
        "1e+2",
        "100.0",
        "0.1",
        "0.10",
        "-0.5",
        "3.14159",
    ),
    *(
        "1e-6",
        "0.000001",
        "1.5e-6",
        "1e-7",
        "1.25e-7",
        "123e-20",
        "1e-5",
        "0.0001",
        "4.9e-324",
        "2.2250738585072014e-308",
    ),
    *(
        "1e15",
        "1e16",
        "1e20",
        "1e21",
        "1e22",
        "1.7976931348623157e308",
        "9007199254740991.0",
        "9007199254740992.0",
    ),
    *("9007199254740993.0", "9.007199254740993e15", "4503599627370496.5", "0.30000000000000004", "5e-324"),
    *("333333333.33333329", "9007199254740994e0", "1e17", "12345678901234567890.5", "0." + "3" * 40),
)
OUT_OF_RANGE = (
    *(
        "1e309",
        "-1e309",
        "1e400",
        "1e-400",
        "-1e-400",
        "0.0" + "0" * 400 + "1",
        "2e308",
        "1e99999999999999999999",
    ),
    *(str(1 << 1024), str(-(1 << 1024)), "9" * 310, "1" + "0" * 5000, "2e-324"),
)
NOT_JSON = ("NaN", "Infinity", "-Infinity")
HALVES = ("\\ud800", "\\uDE00\\ud83d", "\\udbff\\ue000", "\\udc80", "\\ud83d\\u0041", "\\uD83D")
SPACE = ("", "", "", "", " ", "\n", "\t", "\r\n", "  ")


class Writer:
    """Writes one random text after the other.

    Args:
        seed: texts are the same for the same seed.
        faults: the share of parts that are not strict JSON, though JSON text can hold them.
    """

    def __init__(
        self, seed: int, *, faults: float = 0.0, numbers: tuple[str, ...] = INTEGERS + FRACTIONS
    ) -> None:
        self.chance = random.Random(seed)  # noqa: S311 (texts to test with)
        self.faults = faults
        self.numbers = numbers

    def text(self) -> str:
        """One text: a value of any kind, most often an object."""
        compact = self.chance.random() < 0.5
        return self._value(self.chance.choice((1, 2, 3, 4)), "" if compact else None)

    def _space(self, space: str | None) -> str:
        return self.chance.choice(SPACE) if space is None else space

    def _value(self, room: int, space: str | None) -> str:
        choose = self.chance.random()
        if room == 0 or choose < 0.15:
            return self._leaf()
        around = self._space(space)
        if choose < 0.35:
            items = [self._value(room - 1, space) for _ in range(self.chance.choice((0, 1, 2, 4)))]
            return around + "[" + f"{self._space(space)},{self._space(space)}".join(items) + "]" + around
        members = {
            self._string(): self._value(room - 1, space) for _ in range(self.chance.choice((0, 1, 2, 3, 6)))
        }
        pairs = list({json.loads(key): (key, value) for key, value in members.items()}.values())
        if self.faults and pairs and self.chance.random() < self.faults:
            pairs.append((self.chance.choice(pairs)[0], self._leaf()))
        body = f"{self._space(space)},".join(f"{key}{self._space(space)}:{value}" for key, value in pairs)
        return around + "{" + body + "}" + around

    def _leaf(self) -> str:
        choose = self.chance.random()
        if self.faults and self.chance.random() < self.faults:
            return self.chance.choice(OUT_OF_RANGE + NOT_JSON)
        if choose < 0.4:
            return self._string()
        if choose < 0.5:
            return self.chance.choice(("true", "false", "null"))
        if choose < 0.8:
            return self.chance.choice(self.numbers)
        return self._number()

    def _number(self) -> str:
        """A number that nobody thought of, within the doubles below 2^53."""
        number = self.chance.uniform(-1, 1) * 10.0 ** self.chance.randint(-320, 15)
        form = self.chance.choice(("{!r}", "{:.3e}", "{:.17e}", "{:E}"))
        return form.format(number) if abs(number) > 1e-300 else repr(number)

    def _string(self) -> str:
        content = "".join(self.chance.choices(CHARACTERS, k=self.chance.choice((0, 1, 1, 2, 3, 8))))
        fault = self.chance.choice(HALVES) if self.faults and self.chance.random() < self.faults else ""
        style = self.chance.random()
        if style < 0.6:
            return json.dumps(content, ensure_ascii=False)[:-1] + fault + '"'
        if style < 0.8:
            return json.dumps(content)[:-1] + fault + '"'
        return '"' + "".join(map(self._spelled, content)) + fault + '"'

    def _spelled(self, character: str) -> str:
        """One of the spellings that JSON has for a character."""
        units = character.encode("utf-16-be")
        pairs = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
        escaped = "".join(f"\\u{pair if self.chance.random() < 0.5 else pair.upper()}" for pair in pairs)
        if character == "/":
            return self.chance.choice(("/", "\\/", escaped))
        return self.chance.choice((escaped, json.dumps(character, ensure_ascii=False)[1:-1]))

    def damaged(self, text: bytes) -> bytes:
        """The text with some bytes exchanged, taken out, doubled or put in."""
        bytes_ = bytearray(text)
        for _ in range(self.chance.choice((1, 1, 2, 5))):
            place = self.chance.randrange(len(bytes_) + 1)
            piece = self.chance.choice(
                (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b'"', b"\\", b"{", b"]", b",", b"0", b"e")
            )
            how = self.chance.random()
            if how < 0.4:
                bytes_[place:place] = piece
            elif how < 0.7:
                bytes_[place : place + 1] = piece
            elif how < 0.9:
                del bytes_[place : place + self.chance.choice((1, 1, 3, 20))]
            else:
                bytes_[place:place] = bytes_[place : place + 8]
        return bytes(bytes_)

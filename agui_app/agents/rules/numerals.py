"""Small numbers in words."""

from __future__ import annotations

CHINESE = r"(?:\d+|[零〇一二两三四五六七八九十]+)"
"""Pattern of a whole number in Chinese text."""

_DIGITS = {char: index for index, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}

_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_TENS = {
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
_ARTICLES = {"a": 1, "an": 1, "half": 0.5, "half a": 0.5, "half an": 0.5, "a couple of": 2, "couple": 2, "a few": 3}

ENGLISH_NUMBERS: dict[str, float] = {
    **{word: index for index, word in enumerate(_WORDS.split(), 1)},
    **_TENS,
    **_ARTICLES,
    "few": 3,
}
"""Word -> number."""
ENGLISH_HOURS: dict[str, int] = {word: index for index, word in enumerate(_WORDS.split()[:12], 1)}
"""Word -> hour."""

_LONGEST_FIRST = sorted((word for word in ENGLISH_NUMBERS if " " not in word), key=len, reverse=True)
ENGLISH = rf"(?:\d+(?:\.\d+)?|half\s+an?|a\s+couple\s+of|a\s+few|{'|'.join(_LONGEST_FIRST)})"
"""Pattern of a number in English text, an article included."""


def chinese_number(text: str) -> int:
    """十五 is 15, 二〇二六 is 2026, 15 is 15, for any text that CHINESE matches."""
    if text.isdecimal():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_digits(tens) if tens else 1) * 10 + (_digits(ones) if ones else 0)
    return _digits(text)


def _digits(text: str) -> int:
    return int("".join(str(_DIGITS[char]) for char in text))


def english_number(text: str) -> float:
    """fifteen is 15, half an is 0.5, 1.5 is 1.5, for any text that ENGLISH matches."""
    words = " ".join(text.lower().split())
    return ENGLISH_NUMBERS[words] if words in ENGLISH_NUMBERS else float(words)

"""The grammar of clock times and lengths in Chinese. Times in digits, 14:30, are read with the English ones."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agui_app.agents.rules.numerals import CHINESE as N
from agui_app.agents.rules.numerals import chinese_number as number
from agui_app.agents.rules.tokens import Built, DayPart, Lead, Length, Part, Shift, clock, rules

_WORDS = {
    Part.DAWN: "凌晨",
    Part.MORNING: "大清早|清早|清晨|一大早|大早上|一早|早晨|早上|上午",
    Part.NOON: "正午|晌午|午间|中午",
    Part.AFTERNOON: "下午|午后",
    Part.DUSK: "傍晚|黄昏",
    Part.EVENING: "晚上|晚间|夜晚|夜里|夜间",
    Part.NIGHT: "深夜",
    Part.MIDNIGHT: "半夜|午夜|子夜",
}
_LONG_WORDS = {word: part for part, words in _WORDS.items() for word in words.split("|")}
_PART_OF = _LONG_WORDS | {"早": Part.MORNING, "晚": Part.EVENING}
_PART = "|".join(sorted(_LONG_WORDS, key=len, reverse=True))
_OPTIONAL_PART = rf"(?:(?P<part>{_PART}|早|晚)的?\s*)?"

_SECONDS = {"秒": 1, "分钟": 60, "刻钟": 900, "小时": 3600, "钟头": 3600, "天": 86_400}
_AMOUNT = (
    rf"(?P<n>\d+\.\d+|{N}|半)个?(?P<half>半)?(?P<unit>分钟|刻钟|小时|钟头|天|秒钟?)(?P<half_more>半(?!天))?"
    rf"(?:零?(?P<more>{N})分钟?)?"
)
_MINUTE = (
    r"(?:过|零)?(?P<m>\d{2}(?!\d|分钟|[个天人]|小时)|(?:\d{1,2}|[一二三四五六七八九十]{1,3})(?=分(?![钟享]))"
    r"|(?<=零)[一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?(?!分钟|[个天人多几]|小时))(?:分(?![钟享]))?"
)
_QUARTERS = {"半": 30, "一刻": 15, "三刻": 45, "1刻": 15, "3刻": 45}
# 3点建议 are three suggestions
_POINT = r"点(?!建议|意见|要求|想法|原因|理由|问题|心得|体会|内容)钟?整?"
_ABOUT = r"(?:左右|前后|之前|以前|前(?![往台端面]))?"


def _part(match: re.Match[str]) -> Part | None:
    return _PART_OF[match["part"]] if match["part"] else None


def _clock(match: re.Match[str], _: date) -> Built:
    minute = number(match["m"]) if match["m"] else _QUARTERS.get(match["quarter"] or "", 0)
    if match["h"] == "一" and not minute and _before(match) in set("早晚快慢多少有差大小好高低远近"):
        return None  # 早一点, 快一点: a little
    hour = number(match["h"])
    return clock(match, hour, minute, part=_part(match), fixed=hour == 0)


def _before(match: re.Match[str]) -> str:
    return match["part"] or match.string[max(match.start() - 1, 0) : match.start()]


def _clock_before(match: re.Match[str], _: date) -> Built:
    minutes = 15 if match["m"] == "一刻" else number(match["m"])
    return clock(match, (number(match["h"]) - 1) or 12, 60 - minutes, part=_part(match))


def _first_hour(match: re.Match[str], _: date) -> Built:
    return clock(match, number(match["h"]), part=_part(match))


def _length(match: re.Match[str]) -> timedelta:
    n = 0.5 if match["n"] == "半" else float(match["n"]) if "." in match["n"] else number(match["n"])
    n += 0.5 if match["half"] or match["half_more"] else 0
    seconds = n * _SECONDS[match["unit"].replace("秒钟", "秒")]
    return timedelta(seconds=seconds, minutes=number(match["more"]) if match["more"] else 0)


def _shift(match: re.Match[str], _: date) -> Built:
    return Shift(start=match.start(), end=match.end(), length=_length(match))


TIMES = rules(
    (
        rf"提前(?:{N}|半)个?半?(?:分钟|小时|刻钟|天|周)|(?:{N}|半)个?半?(?:分钟|小时|刻钟)(?:之前|以前|前)",
        lambda m, _: Lead(start=m.start(), end=m.end()),
    ),
    (rf"(?:再?过)?(?<![第\d]){_AMOUNT}(?:之后|以后|过后|后(?![天面台端续来]))", _shift),
    (rf"再?过{_AMOUNT}", _shift),
    # the 3 of 3到5点
    (
        rf"{_OPTIONAL_PART}(?<![\d月:：./第-])(?P<h>{N})(?=\s*(?:到|至|-|–|—|~|～)\s*(?:(?:{_PART})的?)?{N}(?:点|[:：]\d\d))",
        _first_hour,
    ),
    (rf"{_OPTIONAL_PART}差(?P<m>一刻|{N}(?=分))(?:钟|分钟?)?到?(?P<h>{N}){_POINT}", _clock_before),
    (
        rf"{_OPTIONAL_PART}(?<![\d.第零一二两三四五六七八九十])(?P<h>{N})(?:{_POINT}|时(?![间候装代常尚]))"
        rf"(?:(?P<quarter>半(?!个?(?:小时|钟头|天))|[一三13]刻)钟?|{_MINUTE})?{_ABOUT}",
        _clock,
    ),
    (rf"(?<![第\d]){_AMOUNT}", lambda m, _: Length(start=m.start(), end=m.end(), length=_length(m))),
    (rf"(?:{_PART})(?![茶饭])", lambda m, _: DayPart(start=m.start(), end=m.end(), part=_PART_OF[m[0]])),
)
"""In the order in which they are tried."""

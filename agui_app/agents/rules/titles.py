"""What is left of a request when its times are taken out: title, place and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from agui_app.agents.rules.tokens import GAP, Days, Lead, Token
from agui_app.agents.rules.wording import CHINESE_LEAD, ENGLISH_LEAD

TITLE_MAX_LENGTH = 100
_SPACE = rf"[\s{GAP}]"
_EDGE = rf"[\s{GAP},，.。:：;；、!！?？~～…\"“”-]"


class Wording(NamedTuple):
    title: str
    location: str | None
    notes: str | None
    description: str | None
    """The whole title, when it had to be cut."""


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_CHINESE = re.compile(CHINESE_LEAD)
_ENGLISH = ENGLISH_LEAD
_OPENING = _pattern(
    r"^(?:日程|待办|备忘|事件|to-?do|task|event|reminder)\s*:",
    r"^(?:请问|记得|别忘[了记]?|不要忘[了记]?|务必|一定要?|该|将(?![军来])|把(?![关手控]))",
    r"^(?:i|we)(?:'ve|\s+have)?\s+(?:got\s+to|have\s+to|must|should)\b|^make\s+sure\s+(?:that\s+)?(?:to|i|we)?\b",
)
_REQUEST = _pattern(
    r"^(?:提醒|通知)(?:一下)?(?:我们?|大家)?(?:一下)?|^[叫喊]我(?:一下)?|^安排(?:一下|上|一?[个场次])?|^(?:创建|"
    r"新建|新增|添加|增加|建立?|设置?|设定|定|记录?|加|来|搞)(?:一?[个场次条下]|上)"
    r"|^(?:创建|新建|新增|添加|增加|设置|设定)(?:(?:新的?)?(?:日程|事件|提醒|待办|日历)(?=[\s:：,，]))?",
    r"^remind(?:er|ing)?(?:\s+(?:me|us))?(?:\s+again)?(?:\s+(?:to|about|that|of|for))?\b:?",
    r"^(?:set|create|add|make|put|save|enter|new)(?:\s+up)?\s+(?:me\s+)?(?:an?\s+|"
    r"the\s+)?(?:new\s+)?(?:calendar\s+)?(?:reminder|event|entry|task|to-?do)"
    r"s?\b(?:\s+(?:to|for|about|that|called|titled|named))?:?",
    r"^(?:schedul(?:e|ing)|book(?!\s+(?:club|fair|launch|reading|signing|report)\b)|add|create|arrange|reserve|"
    r"set\s+up|block\s+(?:off|out)|note\s+down|plan(?=\s+an?\b))\b",
    r"^(?:set|make)(?=\s+(?:an?|the|my)\s+(?:\w+\s+)?(?:alarm|timer|meeting|call|appointment|reservation|booking|"
    r"note)\b)",
    r"^(?:don't\s+(?:let\s+me\s+)?forget|remember)(?:\s+(?:to|about|that))?\b",
    r"^(?:notify|alert|ping)\s+me(?:\s+(?:to|about|that|of|for))?\b",
)
_LIGHT = _pattern(
    r"^(?:的|我们?(?!的)|要(?![点求闻])|该|得|有(?:一?[个场次节](?![人体性])|(?=会|课|约|事|考试|面试))|"
    r"一[个场次节条]|个(?![人体性])|一下|关于|是)",
    rf"^在(?={GAP})",
    r"^(?:i|we)(?:'ve|\s+have)(?:\s+got)?\s+(?:an?|my|the|our)\b|^there(?:'s|\s+is)\s+(?:an?|my|the)\b|^(?:i'm|"
    r"i\s+am|we're|we\s+are)(?=\s+\w+ing\b)",
    r"^(?:to|that|about|for|of|an?|the|my|our|me|on|at|by|and|it's|is)\b(?![-'])",
)
_TAIL = _pattern(
    r"(?:[,，]?\s*(?:记得|请|麻烦|到时候?|届时)*(?:再)?(?:提醒|通知|[叫喊])(?:一下)?我?们?(?:一下)?)$",
    r"(?:帮我|请|给我)+(?:安排|记|加|设|提醒|创建|添加|预约|建|定|弄)(?:一?下|上|一?个)?(?:日程|提醒)?$",
    r"(?:可以|好|行|能|成|方便|ok)(?:吗|么|不[好行能成])$|怎么样$|(?:谢谢|多谢|感谢|拜托)(?:[你您]|[啦了])*$",
    r"(?<=.)(?:一下|[吧啊哦呀吗呢哈啦嘛的了])$",
    r"(?<=[^\s的])的?(?:提醒|日程)$",
    r"(?:\b(?:please|thanks|thank\s+you|thx|for\s+me|if\s+you\s+can|will\s+you|okay|ok|as\s+well|"
    r"(?:and\s+)?remind\s+me))$",
)
_DANGLING = _pattern(r"(?:\b(?:to|at|for|by|from|and|with|the|an?|of))$")
"""What a time leaves behind where it was cut: call Bob at …"""
_ANYWHERE = _pattern(
    r"\b(?:put|add|save|enter|write)\b(?=.*\b(?:to|on|in|into)\s+(?:my|the|our)\s+(?:calendar|schedule|agenda|"
    r"diary)\b)",
    r"(?:添加|加|放|记|写|存|录|安排)(?:到|进|入|在)(?:我的?|了)?(?:日历|日程表?|行程表?|备忘录)(?:里面?|中|上)?",
    r"\b(?:to|on|in|into)\s+(?:my|the|our)\s+(?:calendar|schedule|agenda|diary)\b",
    rf"(?:从|自|于|[定约放]在|(?<!现)在)(?={GAP})",
    rf"(?<={GAP})\s*(?:到|至|-|–|—|~|～|to|until|till|through|和|与|及|、|and)\s*(?={GAP})",
    rf"(?<={GAP})(?:之前|以前|前(?=\S)|左右|前后)",
    rf"[(（]{_SPACE}*[)）]",
    r"(?:一整|全|整)天的?|\b(?:all|whole)[\s-]day\b",
    rf"(?<={GAP})(?:之间|期间|开始(?=\S)|起(?=[,，]))",
)
_NAMED = re.compile(
    r"(?:标题|主题|题目)(?:是|为|叫|[:：])?\s*[「“\"《]?(?P<zh>[^」”\"》,，。;；\x1f]+)[」”\"》]?"
    r"|\b(?:called|titled|named|entitled)\s+(?:\"(?P<a>[^\"]+)\"|“(?P<b>[^”]+)”|'(?P<c>[^']+)')",
    re.IGNORECASE,
)

_WORD = rf"[^{GAP}\s,，。;；!！?？、]"
_NUMBERED = r"(?:[A-Za-z0-9]{1,6}(?:[室号楼层座])?|[一二三四五六七八九十]+[号层楼室])?"
_PLACE_ENDS = (
    r"(?:室|厅|楼|馆|店|院|园|场|中心|大厦|公司|学校|大学|站|港|路|号|广场|工位|食堂|银行|超市|小区|基地|总部|前台|"
    r"线上|家里?)"
)
_IN = rf"(?<![现正存实所])在(?!线(?!上)|职|校|看|吗|忙|做|于|乎|意|内|座|{GAP})"
_BEFORE_VERB = (
    rf"(?=和|跟|与|同|开(?!发)|见|吃|喝|看|参加|举[行办]|进行|面试|上课|聚|讨论|培训|集合|打|做|办|碰|签|拍|约|谈|"
    rf"聊|出差|玩|练|跑|接|取|{_SPACE}|[,，。;；]|$)"
)
_CHINESE_PLACE = re.compile(
    rf"(?:地点|地址|位置)(?:是|在|为|[:：])?\s*(?P<said>{_WORD}+)"
    rf"|{_IN}(?P<ending>(?:{_WORD}{{0,12}}?{_PLACE_ENDS}{_NUMBERED}){{1,3}})(?!的)"
    rf"|{_IN}(?P<any>{_WORD}{{1,15}}?){_BEFORE_VERB}"
)
_STOP = rf"(?=\s+(?:with|for|on|to|about|regarding|until|and)\b|\s*(?:{GAP}|[,.;!?]|$))"
_ENGLISH_AT = re.compile(
    rf"(?<!look )(?<!looking )(?<!glance )(?<!laugh )(?<!yell )(?<!aim )(?<!good )(?:\bat|"
    rf"(?<!\w)@)\s*(?![\d\s-]+(?:$|[{GAP},.;!?]))(?P<place>(?:the\s+|my\s+|our\s+)?[^{GAP},.;!?]+?){_STOP}",
    re.IGNORECASE,
)
_ROOM = (
    r"(?:[Rr]oom|[Oo]ffice|[Bb]uilding|[Ll]obby|[Hh]all|[Ss]tudio|[Aa]uditorium|[Cc]afeteria|[Kk]itchen|[Ll]ibrary|"
    r"[Pp]ark|[Gg]arden|[Bb]oardroom)"
)
_ENGLISH_IN = re.compile(
    rf"(?<!check )(?<!log )(?<!hand )(?<!turn )(?<!sign )\b[Ii]n\s+(?P<place>(?:(?:the|my|"
    rf"our)\s+)?(?:\w+\s+){{0,2}}?{_ROOM}(?:\s+[A-Z0-9]\w*)?"
    rf"|(?!English\b|French\b|Chinese\b|German\b|Spanish\b)[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*){_STOP}"
)


def mask(text: str, tokens: Iterable[Token]) -> str:
    """`text` with the words of `tokens` replaced by gaps of the same length."""
    for token in tokens:
        text = text[: token.start] + GAP * (token.end - token.start) + text[token.end :]
    return text


def read_wording(text: str, plain: str, used: Iterable[Token], leads: Iterable[Lead]) -> Wording:
    """Title and place in `text`, whose times are at `used`. `plain` is `text` in plain characters, place for place."""
    leads = tuple(leads)
    masked = mask(plain, (*(token for token in used if not _stays(token)), *leads))
    notes = "; ".join(text[lead.start : lead.end] for lead in leads) or None
    if named := _NAMED.search(masked):
        group = next(name for name in ("zh", "a", "b", "c") if named[name])
        title = text[named.start(group) : named.end(group)].strip()
        _, location = _without_place(_take(masked, named.start(), named.end()), text)
    else:
        without, location = _without_place(_ANYWHERE.sub(lambda m: GAP * len(m[0]), masked), text)
        title = _title(without, text)
        if not title and location:
            return Wording("", location, notes, None)
    cut = title if len(title) <= TITLE_MAX_LENGTH else title[: TITLE_MAX_LENGTH - 1] + "…"
    return Wording(cut, location, notes, None if cut == title else title)


def _stays(token: Token) -> bool:
    return isinstance(token, Days) and token.is_named


def _take(masked: str, start: int, end: int) -> str:
    return masked[:start] + GAP * (end - start) + masked[end:]


def _without_place(masked: str, text: str) -> tuple[str, str | None]:
    for pattern in (_CHINESE_PLACE, _ENGLISH_AT):
        if found := pattern.search(masked):
            group = next(name for name, value in found.groupdict().items() if value)
            return _take(masked, found.start(), found.end()), text[found.start(group) : found.end(group)].strip()
    original = "".join(GAP if mark == GAP else char for mark, char in zip(masked, text, strict=True))
    if found := _ENGLISH_IN.search(original):
        return _take(masked, found.start(), found.end()), found["place"].strip()
    return masked, None


def _title(masked: str, text: str) -> str:
    start, end = _edges(masked, 0, len(masked))
    for pattern in (_CHINESE, _ENGLISH, _OPENING, _CHINESE):
        start = _stripped(masked, (start, end), pattern)
    if request := _REQUEST.match(masked[start:end]):
        start = _edges(masked, start + request.end(), end)[0]
    start = _stripped(masked, (start, end), _LIGHT)
    while tail := _TAIL.search(masked[start:end]) or (GAP in masked[end:] and _DANGLING.search(masked[start:end])):
        end = _edges(masked, start, start + tail.start())[1]
    kept = "".join(GAP if mark == GAP else char for mark, char in zip(masked[start:end], text[start:end], strict=True))
    return _joined(kept)


def _stripped(masked: str, edges: tuple[int, int], pattern: re.Pattern[str]) -> int:
    start, end = edges
    while start < end and (found := pattern.match(masked[start:end])) and found.end():
        start = _edges(masked, start + found.end(), end)[0]
    return start


def _edges(masked: str, start: int, end: int) -> tuple[int, int]:
    """The places of the first and behind the last character that is no gap, space or mark."""
    while start < end and re.match(_EDGE, masked[start]):
        start += 1
    while end > start and re.match(_EDGE, masked[end - 1]):
        end -= 1
    return start, end


def _joined(kept: str) -> str:
    """Gaps closed: between Chinese characters with nothing, else with a space."""
    kept = re.sub(rf"{GAP}+的(?=.)", GAP, kept)
    kept = re.sub(rf"([,，、]){_SPACE}*{GAP}(?:{_SPACE}|[,，、])*", r"\1 ", kept)
    kept = re.sub(rf"(?<=[⺀-鿿]){_SPACE}*{GAP}{_SPACE}*(?=[⺀-鿿])", "", kept)
    return re.sub(rf"{_SPACE}+", " ", kept).strip()

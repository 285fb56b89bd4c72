"""A sentence as the grammar sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agui_app.agents.rules import wording
from agui_app.agents.rules.moments import find_times
from agui_app.agents.rules.titles import mask
from agui_app.agents.rules.tokens import Days, Token

_KEPT_WIDE = "，。；！？（）～"
_TRADITIONAL = (
    "點後週會開禮號兩時鐘這個嗎麼請幫預約訂記過間內頭鬧說誰幾還為議廳樓館園場廣學機車"
    "單給讓陰曆農聖誕國慶勞動節錄設創寫進裡裏歷當從與東選飯課"
)
_SIMPLIFIED = (
    "点后周会开礼号两时钟这个吗么请帮预约订记过间内头闹说谁几还为议厅楼馆园场广学机车"
    "单给让阴历农圣诞国庆劳动节录设创写进里里历当从与东选饭课"
)
# One for one, so that places stay what they are.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in _KEPT_WIDE}
    | {"\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'"}
    | dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True))
)


def plain(text: str) -> str:
    """`text` with wide forms and traditional characters as the grammar writes them, place for place."""
    return text.translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    plain: str
    now: datetime
    """Aware, in the reader's zone."""
    tokens: tuple[Token, ...]
    masked: str
    """The plain sentence without its times."""
    english: str
    """What of it follows could you, please and the like."""

    @property
    def names_a_day(self) -> bool:
        return any(isinstance(token, Days) for token in self.tokens)


def read_sentence(text: str, now: datetime, timezone: str) -> Sentence:
    """`text`, said at `now` (aware) by a reader in the IANA zone `timezone`."""
    local = now.astimezone(ZoneInfo(timezone))
    in_plain = plain(text)
    tokens = tuple(find_times(in_plain, local.date()))
    masked = mask(in_plain, tokens)
    lead = wording.ENGLISH_LEAD.match(masked)
    return Sentence(text, in_plain, local, tokens, masked, masked[lead.end() :] if lead else masked)

"""What kind of sentence it is, by its words: a request, a question, a statement, in Chinese and English.

Every pattern looks at the sentence in plain characters with its times taken out (`tokens.GAP`), except those of
small talk. A question never becomes an event, a polite request does: what tells them apart is what the sentence
begins with once 请, 你, can you and the like are gone.
"""

from __future__ import annotations

import re

from agui_app.agents.rules.tokens import GAP


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_START = rf"^[\s{GAP},，.。:：;；、!！~～-]*"
_END = rf"[\s{GAP},，.。!！?？~～]*$"

GREETING = _pattern(
    rf"{_START}(?:你好|您好|大家好|嗨|哈[喽罗啰]|哈罗|早上好|上午好|中午好|下午好|晚上好|早安|午安|晚安|早|在吗|"
    rf"在不在|hello|hi|hey|good\s+(?:morning|afternoon|evening|day|night)|greetings|howdy)"
    rf"(?:[啊呀哈吗呢]|\s+there|\s+again)*{_END}"
)
THANKS = _pattern(
    rf"{_START}(?:非常|多|太)?(?:谢谢|感谢|多谢|谢了|辛苦了?)[你您啦了]*{_END}",
    rf"{_START}(?:many\s+)?(?:thanks|thank\s+you|thx|cheers)(?:\s+(?:a\s+lot|so\s+much|very\s+much|you|again))*{_END}",
)
HELP = _pattern(
    rf"[你您](?:都|还)?(?:能|会|可以)(?:做|干|帮我?做?|处理)(?:些|点)?(?:什么|啥|哪些)|[你您]有(?:什么|哪些)(?:功能|"
    rf"用处|本事)|[你您]是(?:谁|什么)|(?:怎么|如何)(?:使用|用)[你这]?|{_START}(?:帮助|使用说明){_END}",
    r"(?:怎么|怎样|如何)(?:才能)?(?:创建|新建|添加|安排|查看|设置|使用)(?:一?个)?(?:日程|提醒|日历|事件|会议)",
    rf"what\s+(?:can|do|else\s+can)\s+you\s+do|who\s+are\s+you|what\s+are\s+you(?:\s+able|{_END})|how\s+(?:can|"
    rf"could)\s+you\s+help|{_START}help(?:\s+me)?{_END}|how\s+do(?:es)?\s+(?:this|you|it)\s+work"
    r"|how\s+(?:do|can|should)\s+i\s+(?:create|add|schedule|make|set|use)",
)
WEATHER = _pattern(r"天气|气温|下雨|下雪|刮风|温度|weather|forecast|temperature|\b(?:rain|snow|sunny|umbrella)\b")
CLOCK = _pattern(
    rf"(?:现在|当前)(?:是)?(?:几点|什么时间|时间)|{_START}几点了?{_END}|(?:今天|明天|后天|昨天|"
    rf"{GAP})(?:是)?(?:星期几|周几|礼拜几|几号|几月几号|什么日子)",
    rf"what(?:'s|\s+is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)(?:\s+(?:is\s+it|now|today|right\s+now|"
    rf"of\s+the\s+week|is|{GAP}+|\s)*){_END}|what\s+day\s+(?:is|was|will)|what\s+date\s+is",
)
DEFINITION = _pattern(
    rf"{_START}(?:为什么|为何|凭什么|怎么(?!样|回事)|如何|怎样)",
    rf"是什么意思|什么叫|什么是|是什么{_END}|的定义|的意思|有什么区别",
    rf"{_START}what\s+(?:is|are|does)\s+(?:an?\s+)?[^{GAP}]*\b(?:mean|definition|calendar|meeting|schedule|event|"
    rf"appointment)s?{_END}",
    rf"\b(?:define|definition\s+of|meaning\s+of|explain)\b|{_START}(?:why|how\s+(?:do|does|to|can|should|would|"
    rf"come))\b",
)

# --- questions --------------------------------------------------------------------------------------------------

ASKING_WORD = _pattern(
    r"什么|怎么|怎样|为何|哪|谁|几点|几号|几[个场次]|多少|多久|何时|有没有|是不是|是否|会不会|要不要|忙不忙|啥|咋|有空",
)
ASKS_AT_END = _pattern(rf"[?？][\s{GAP}]*$|(?:吗|么|呢)[\s{GAP}。!！~～]*$")
TAG = _pattern(
    rf"(?:好|行|可以|能|成|方便|ok)(?:吗|么|不[好行能成]){_END}|(?:好不好|行不行|可不可以|怎么样|okay|ok|alright|"
    rf"will\s+you|would\s+you){_END}"
)
POLITE_WORD = _pattern(r"能|可以|可否|麻烦|请|劳驾|拜托|帮|给我|替我")

_AUXILIARY = r"(?:is|are|am|was|were|does|did|isn't|aren't|wasn't|weren't|doesn't|didn't|should|shall|may|might)"
ENGLISH_QUESTION = _pattern(
    rf"{_START}(?:what|what's|whats|when|when's|where|where's|who|who's|whose|whom|why|how|how's|which)\b",
    rf"{_START}{_AUXILIARY}\b",
    rf"{_START}(?:do|have|had|has|will|would|can|could|haven't|hasn't|don't|won't|can't)\s+(?:i|you|we|they|he|she|"
    rf"it|there|the|my|our|any|anyone|someone|this|that)\b",
    rf"{_START}(?:any|anything)\b",
)
ASKED_INDIRECTLY = _pattern(
    rf"{_START}(?:tell\s+me|let\s+me\s+know|show(?:\s+me)?|list|display|view|check|look\s+(?:up|at)|see|"
    rf"find(?:\s+out)?|give\s+me|read(?:\s+me)?|do\s+you\s+know|i\s+wonder|i'd\s+like\s+to\s+(?:know|see)|"
    rf"i\s+want\s+to\s+(?:know|see))\b",
    rf"^[\s{GAP},，。:：]*(?:请问?|麻烦[你您]?|帮我?|给我|替我|[你您]|能不能|能否|能|可不可以|可以|我想|我要|我|想|"
    rf"要|一下|再|{GAP})*(?:查看|查询|查一?下?|看看|看一?[下眼]|列出|列一?下|显示|展示|告诉我|知道|说说|念一?下|"
    rf"找一?下|打开)",
)

# --- requests ---------------------------------------------------------------------------------------------------

CHINESE_LEAD = (
    rf"^[\s{GAP},，。:：!！]*(?:请(?=[你您帮给替为提安预订记加添创新设定把将在务一通叫,，\s{GAP}])|麻烦[你您]?|劳驾|"
    rf"拜托[你您]?|帮(?:忙|我们?)(?:一下)?|帮(?=[提安预记加添创新设定])|[给替为]我们?|[你您](?:好)?|能不能|能否|"
    rf"能(?![源力量耗])|可不可以|可以|可否|我想要?|我要|我需要|我得|我们?|想(?![象法])要?|需要|"
    rf"希望(?=[你您能可{GAP}])|那么?|嗯|哦|对了|好的|另外|还有|再(?![次见生保说])|也|要(?![点求闻])|得|"
    rf"把(?![关手控])|一下|[\s{GAP},，])*"
)
CHINESE_REQUEST = _pattern(
    r"提醒(?:一下)?(?:我|大家|一下)|[叫喊](?:醒)?我|通知我|(?<![没不])记得|别忘|不要忘|帮我(?:安排|记|加|设|定|订|"
    r"约|预约|创建|新建|添加|建|预订)",
    r"(?:添加|加|放|记|写|存|录)(?:到|进|入)(?:我的?)?(?:日历|日程|行程|备忘录)|(?:安排|记录?|提醒)一下|记一?个",
    rf"{CHINESE_LEAD}(?P<verb>提醒|安排(?![了过好得])|预约(?![了过好])|预订(?![了过好])|预定(?![了过好])|"
    rf"约(?![了过好定会])|订(?![了过阅单])|创建|新建|新增|添加|增加|建立?一?个|加一?[个下条]|加上|设置|设定|设一?个|"
    rf"定一?个|记下|记录)",
)
ENGLISH_REQUEST = _pattern(
    r"\bremind(?:ing)?\s+(?:me|us)\b(?!\s+(?:what|when|where|who|which|how|if|whether|why)\b)|"
    r"\bdon't\s+let\s+me\s+forget\b|\b(?:set|add|create)\s+(?:up\s+)?(?:an?\s+)?(?:new\s+)?reminder\b",
    r"\b(?:add|put|save|enter|write)\b.*\b(?:to|on|in|into)\s+(?:my|the|our)\s+(?:calendar|schedule|agenda|diary)\b",
)
ENGLISH_LEAD = _pattern(
    rf"{_START}(?:(?:please|hey|hi|hello|okay|ok|so|and|also|then|just|kindly|siri|alexa|assistant|thanks|"
    rf"thank\s+you|great|yes|yeah|sure|now|maybe|quickly|actually)\b[\s,!.{GAP}]*|(?:can|could|would|will)\s+(?:you|"
    rf"i|we)\b(?:\s+(?:please|mind|possibly|maybe|kindly|help\s+me(?:\s+to)?))*[\s{GAP}]*"
    rf"|(?:i|we)(?:'d|\s+would)\s+(?:like|love)\s+(?:you\s+)?to\b\s*|(?:i|we)\s+(?:want|need)\s+(?:you\s+)?to\b\s*|"
    rf"(?:let's|help\s+me(?:\s+to)?)\b\s*|i\s+was\s+wondering\s+if\s+you\s+(?:could|can|would)\b\s*"
    rf"|(?:would|is)\s+it\s+(?:be\s+)?possible\s+(?:for\s+you\s+)?to\b\s*|do\s+me\s+a\s+favou?r\s+and\b\s*"
    rf"|(?:are|would)\s+you\s+(?:be\s+)?able\s+to\b\s*|(?:any\s+chance|do\s+you\s+think)\s+you\s+(?:could|can)\b\s*|"
    rf"[\s{GAP}]+)*"
)
ENGLISH_REQUEST_VERB = _pattern(
    r"^(?:to-?do|task|event|reminder|schedule|日程|待办|备忘)\s*:",
    rf"^(?:schedul(?:e|ing)\b(?!\s*(?:{_END}|for\b|of\b|on\b|{GAP}+\s*{_END}))|book(?:ing)?\b(?!\s+(?:club|fair|"
    rf"launch|reading|signing|report)\b)|add(?:ing)?\b|create\b|creating\b|arrang(?:e|ing)\b|reserve\b|"
    rf"set(?:ting)?\s+up\b|block\s+(?:off|out)\b|note\s+down\b|reminder\b(?=.))",
    r"^(?:set|make|put)\s+(?:me\s+)?(?:an?|the|my)\s+(?:\w+\s+)?(?:alarm|timer|meeting|call|appointment|reservation|"
    r"booking|note|reminder|event)\b|^plan\s+an?\b|^new\s+(?:event|meeting|reminder|appointment|task)\b",
    r"^(?:remind(?:ing)?|notify|alert|ping|wake)\s+(?:me|us)\b(?!\s+(?:what|when|where|who|which|how|if|whether|"
    r"why)\b)|^don't\s+(?:let\s+me\s+)?forget\b|^remember\s+to\b|^make\s+sure\b",
)
DONE_ALREADY = _pattern(r"了[吗没么]|了没有|过[吗没]")
WHAT_AFTER = _pattern(
    rf"^(?:提醒|告诉|通知|叫|喊)(?:一下)?(?:我|大家)?(?:一下)?[\s{GAP},，]*(?:我们?)?[\s{GAP}]*(?:都|还)?有?(?:什么|"
    rf"啥|哪些|几个|没有)"
)
REMIND_ME_WHAT = _pattern(
    r"\bremind\s+(?:me|us)\s+(?:what|when|where|who|which|how|if|whether|why)\b", WHAT_AFTER.pattern.replace("^", "", 1)
)
NEGATED = _pattern(
    r"(?:不用|不要|别|无需|不需要|不必|取消)(?:再)?(?:提醒|安排|通知|叫|预约)",
    r"\b(?:don't|do\s+not|no\s+need\s+to|stop|never)\s+(?:remind|schedul|book|add|creat|notify|wak)\w*\b",
)
CHANGE = _pattern(
    rf"{CHINESE_LEAD}(?:取消|删除|删掉|删了|移除|推迟|延后|延期|修改|更改|改期)|(?:改到|改成|改为|改在|推迟到|"
    rf"提前到|挪到|移到|调到|延后到|延期到)",
    rf"{CHINESE_LEAD}.*(?:取消|删除|删掉|推迟|延后)(?:一下|了|吧|掉)?{_END}",
)
ENGLISH_CHANGE = _pattern(
    r"^(?:cancel|delete|remove|reschedule|postpone|call\s+off|undo)\b",
    rf"^(?:move|change|push|shift|update|edit|rename)\b.*(?:\b(?:meeting|appointment|event|reminder|call|it|that|"
    rf"lunch|dinner|calendar)\b|{GAP})",
)

# --- the calendar -----------------------------------------------------------------------------------------------

CALENDAR_ITSELF = _pattern(
    r"日程|安排|日历|行程|待办",
    r"\b(?:calendar|schedule|agenda|itinerary|to-?dos?|free|busy|available|my\s+(?:day|week|weekend|month|morning|"
    r"afternoon|evening))\b",
)
CALENDAR_THING = _pattern(
    rf"会议|开会|例会|有会|会(?={_END})|会(?=[吗要])|[个场]会|预约|约会|有约|约(?=[吗了]|{_END})|提醒|活动|计划|"
    rf"事情|[么有点]事|要做|面试|考试|课|忙|空|干(?:什么|啥|嘛|吗)|做(?:什么|啥)|去哪",
    r"\b(?:meetings?|appointments?|events?|plans?|reminders?|interviews?|calls?|classes|class|bookings?|"
    r"reservations?|booked|planned|scheduled|going\s+on|happening|meeting)\b|what(?:'s|\s+is)\s+(?:on|up|next|"
    r"coming)\b|\b(?:i|we)\s+(?:have|got|doing|meet)\b|\bam\s+i\b|\b(?:do|have|did|had|should)\s+(?:i|we)\b|"
    r"\banything\b",
)
ABOUT_ME = _pattern(r"我", r"\b(?:i|my|me|we|our|i'm|mine)\b")
ONLY_CALENDAR = _pattern(
    rf"^[\s{GAP},，。的我们你请查看下一剩全部所有]*(?:日程|安排|日历|行程|待办|计划)(?:表|安排|事项|是|呢)*{_END}",
    rf"^[\s{GAP}]*(?:(?:my|the|our|'s|for|show|please)\s+)*(?:calendar|schedule|agenda|plans?|events|appointments|"
    rf"meetings|next\s+(?:meeting|event|appointment|call))(?:\s+(?:for|on|of|in)\b)*{_END}",
)
NOTHING_ELSE_ASKED = _pattern(rf"^[\s{GAP},，。我们还都]*有(?:什么|啥|哪些)(?:要?做的?|事)?[吗呢]?{_END}")
WHATS_ON = _pattern(r"\bwhat(?:'s|\s+is)\s+(?:on|up|there)\b")
"""Looked for in the whole sentence: `on tomorrow` is a time."""
WHEN = _pattern(r"什么时候|几点|哪天|哪一天|几号|何时|什么时间", r"\bwhen\b|\bwhat\s+time\b|\bwhich\s+day\b")
WHEN_IS = _pattern(
    r"什么时候|几点|哪一?天|几号|何时|什么时间",
    r"\b(?:when|what\s+time|which\s+day)(?:'s|\s+(?:is|are|does|do|will))\b",
)
NEXT_ONE = _pattern(
    r"下一?[个场次](?:会议|会|日程|安排|预约|活动|面试)",
    r"\b(?:my\s+)?next\s+(?:meeting|event|appointment|call|interview)\b|what's\s+next",
)
SUBJECT_NOISE = _pattern(
    r"我们?的?|请问|是|在|定|安排|什么时候|几点|哪一?天|几号|何时|什么时间|会议|开会|会|预约|活动|日程|提醒|和|跟|"
    r"与|同|开|的|有|要|下一?[个场次]|了|吗|呢|告诉|一下|[?？。!！,，]",
    r"\b(?:when(?:'s)?|what(?:\s+time)?|which\s+day|is|are|was|will|be|do|does|i|we|have|my|the|our|a|an|with|next|"
    r"meetings?|appointments?|events?|call|remind(?:er)?|scheduled|for|to|you|will|tell|me|can|could|you|please|at|"
    r"on)\b|'s|[?.!,]",
)

# --- statements -------------------------------------------------------------------------------------------------

TELLS = _pattern(
    r"(?<![主标]题)(?<!题目)(?<!地点)是(?!否)|很|太|真|觉得|感觉|喜欢|讨厌|好(?:累|忙|热|冷|困|烦|开心|难|想)|天气|下雨|下雪|心情|已经|刚才|刚刚|"
    r"现在|(?<![为除])了[。!！~～\s]*$|没|不(?!要忘|见不散)|会(?:下|有|是|很|更|变)|听说|据说|应该|可能|也许|因为|"
    r"哈哈|呵呵",
    r"\b(?:is|are|was|were|it's|that's|he's|she's|isn't|aren't|wasn't)\b|\b(?:love|like|hate|think|believe|feel|"
    r"felt|hope|wish|guess|heard|said|says)\b|\bwill\s+(?:be|rain|snow|have)\b|\bi'm\s+(?!\w+ing\b)",
    r"\b(?:i|we|he|she|they|it|you)\s+(?:\w+ly\s+|just\s+|already\s+)?(?:had|did|went|woke|met|saw|came|got|ate|"
    r"slept|left|took|made|wrote|ran|bought|spoke|forgot|(?!need|feed|speed|succeed|proceed)\w{2,}ed)\b|\b(?:not|"
    r"never|no|maybe|works|sounds)\b",
)
EVENT_LIKE = _pattern(
    r"会|假|生日|考|面试|聚|饭|餐|约|航班|飞|火车|高铁|动车|出差|旅|体检|看病|牙|课|培训|婚|纪念|截止|交|还|发布|"
    r"上线|演|电影|比赛|健身|跑|瑜伽|团建|活动|典礼|讲座|答辩|搬家|签|拜访|接|送|取|买|打|去|办|缴|付|复查|手术|"
    r"理发|值班|加班|开学|到期|过期|续费|报名|评审|复盘|汇报|回家|露营|爬山|游泳|休息日|节",
    r"\b(?:meet(?:ing)?|call|appointment|dentist|doctor|birthday|anniversary|wedding|party|lunch|dinner|breakfast|"
    r"brunch|coffee|drinks|flight|fly|train|trip|travel|vacation|holiday|leave|day\s+off|off|pto|interview|exam|"
    r"test|class|lesson|course|deadline|due|submit|pay|rent|concert|show|movie|game|match|gym|workout|run|yoga|"
    r"conference|workshop|review|sync|standup|demo|presentation|launch|release|visit|pick\s+up|drop\s+off|checkup|"
    r"surgery|haircut|date|reunion|festival|ceremony|graduation|webinar|seminar|training|retro|planning|kickoff|"
    r"barbecue|bbq|picnic|hike|hiking|camping|delivery|rehearsal|audit|renew(?:al)?|expires?|moving|offsite|retreat|"
    r"new\s+year|christmas)s?\b",
)
NO_TITLE = _pattern(
    rf"^(?:{_START}(?:可以|行|好的?|见|吧|吗|呢|么|说|再说|再见|加油|怎么样|日程|提醒|事件|会议安排|安排|"
    rf"works?(?:\s+for\s+me)?|sounds\s+good|fine|ok|okay|then|see\s+you|reminders?|events?|meetings|appointments|"
    rf"something|it|this|that|me|up|at){_END})$"
)
NO_SUCH_TIME = _pattern(r"(?<![\d:.])\d{1,2}:\d{2}(?![\d:])", r"(?<!\d)(?:2[5-9]|[3-9]\d)\s*[点时](?![\d钟间])")
"""What is written like a time and was read as none: 25:00, 12:75, 30点."""

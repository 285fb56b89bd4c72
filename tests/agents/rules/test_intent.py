"""What the rule agent makes of a sentence. It is Saturday, 28 February 2026, nine in the morning in Shanghai."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.agents.rules.intent import Intent, Kind, read_intent

NOW = datetime.fromisoformat("2026-02-28T09:00:00+08:00")
SHANGHAI = "Asia/Shanghai"

# sentence, title, start, and the rest of the arguments; times without the year, the seconds and the offset
CREATED: list[tuple[str, str, str, dict[str, str]]] = [
    # days in Chinese
    ("明天早上8点开会", "开会", "03-01T08:00", {}),
    ("后天晚上七点半和小李吃饭", "和小李吃饭", "03-02T19:30", {}),
    ("大后天下午2点看牙医", "看牙医", "03-03T14:00", {}),
    ("下周一上午10点提醒我交周报", "交周报", "03-02T10:00", {}),
    ("周五下午3点项目评审", "项目评审", "03-06T15:00", {}),
    ("这周日上午9点爬山", "爬山", "03-01T09:00", {}),
    ("下下周二下午4点面试", "面试", "03-10T16:00", {}),
    ("星期三晚上8点健身", "健身", "03-04T20:00", {}),
    ("礼拜天下午两点看电影", "看电影", "03-01T14:00", {}),
    ("周六下午3点打球", "打球", "02-28T15:00", {}),
    ("周六早上8点打球", "打球", "03-07T08:00", {}),
    ("提醒一下周三开会", "开会", "03-04", {}),
    ("下周的周五下午3点评审", "评审", "03-06T15:00", {}),
    ("3号下午3点开会", "开会", "03-03T15:00", {}),
    ("15号上午十点半体检", "体检", "03-15T10:30", {}),
    ("1号上午十点半体检", "体检", "03-01T10:30", {}),
    ("下个月5号下午2点复查", "复查", "03-05T14:00", {}),
    ("提醒我月底交房租", "交房租", "02-28", {}),
    ("12月25日晚上7点圣诞派对", "圣诞派对", "12-25T19:00", {}),
    ("1月10日上午9点年会", "年会", "2027-01-10T09:00", {}),
    ("二〇二七年五月一日上午九点出游", "出游", "2027-05-01T09:00", {}),
    ("明年3月5日上午9点出游", "出游", "2027-03-05T09:00", {}),
    ("2月29日聚会", "聚会", "2028-02-29", {}),
    ("2026-03-10 14:00 产品发布会", "产品发布会", "03-10T14:00", {}),
    ("3/5下午3点开会", "开会", "03-05T15:00", {}),
    ("13/5下午3点开会", "开会", "05-13T15:00", {}),
    ("3月5日（周四）下午3点评审", "评审", "03-05T15:00", {}),
    ("周四3月5日下午3点评审", "评审", "03-05T15:00", {}),
    ("国庆节去旅游", "国庆节去旅游", "10-01", {}),
    ("3天后提醒我还书", "还书", "03-03", {}),
    ("两周后提醒我续费", "续费", "03-14", {}),
    ("1个月后提醒我复查", "复查", "03-28", {}),
    ("一年后提醒我续费", "续费", "2027-02-28", {}),
    ("过两天提醒我寄信", "寄信", "03-02", {}),
    ("月底下午3点交房租", "交房租", "02-28T15:00", {}),
    # clock times in Chinese
    ("明天凌晨2点看球", "看球", "03-01T02:00", {}),
    ("明天晚上12点跨年", "跨年", "03-02T00:00", {}),
    ("明天半夜1点看球", "看球", "03-02T01:00", {}),
    ("明天零点抢票", "抢票", "03-01T00:00", {}),
    ("今晚8点看电影", "看电影", "02-28T20:00", {}),
    ("明晚九点给妈妈打电话", "给妈妈打电话", "03-01T21:00", {}),
    ("明早7点叫我起床", "起床", "03-01T07:00", {}),
    ("今晚11点半睡觉", "睡觉", "02-28T23:30", {}),
    ("今天下午4点一刻接孩子", "接孩子", "02-28T16:15", {}),
    ("明天下午三点三刻拿快递", "拿快递", "03-01T15:45", {}),
    ("后天早上九点四十五分的飞机", "飞机", "03-02T09:45", {}),
    ("下午4点05分的火车", "火车", "02-28T16:05", {}),
    ("明天三点零五分开会", "开会", "03-01T15:05", {}),
    ("明天下午差一刻三点开会", "开会", "03-01T14:45", {}),
    ("明天14时30分开会", "开会", "03-01T14:30", {}),
    ("明天3:30开会", "开会", "03-01T15:30", {}),
    ("明天下午3:30左右开会", "开会", "03-01T15:30", {}),
    ("明天03:30看球", "看球", "03-01T03:30", {}),
    ("提醒我明天３点开会", "开会", "03-01T15:00", {}),
    ("明天下午3點開會", "開會", "03-01T15:00", {}),
    ("中午12点半吃饭", "吃饭", "02-28T12:30", {}),
    ("明天中午1点午餐会", "午餐会", "03-01T13:00", {}),
    ("傍晚6点跑步", "跑步", "02-28T18:00", {}),
    ("明天下午开会", "开会", "03-01T14:00", {}),
    ("明天上午看医生", "看医生", "03-01T09:00", {}),
    ("晚上和小王8点吃饭", "和小王吃饭", "02-28T20:00", {}),
    ("明天12点吃饭", "吃饭", "03-01T12:00", {}),
    ("明天3pm开会", "开会", "03-01T15:00", {}),
    # what the words leave open
    ("明天8点开会", "开会", "03-01T08:00", {}),
    ("今天8点开会", "开会", "02-28T20:00", {}),
    ("8点提醒我吃药", "吃药", "03-01T08:00", {}),
    ("3点开会", "开会", "02-28T15:00", {}),
    ("明天6点起床", "起床", "03-01T06:00", {}),
    ("明天晚饭7点", "晚饭", "03-01T19:00", {}),
    # from now
    ("两小时后提醒我关火", "关火", "02-28T11:00", {}),
    ("过20分钟提醒我收衣服", "收衣服", "02-28T09:20", {}),
    ("一个半小时后开会", "开会", "02-28T10:30", {}),
    ("一刻钟后提醒我关火", "关火", "02-28T09:15", {}),
    ("1个小时30分钟后提醒我出门", "出门", "02-28T10:30", {}),
    ("1.5小时后提醒我出门", "出门", "02-28T10:30", {}),
    ("30秒后提醒我出门", "出门", "02-28T09:01", {}),
    ("半小时后开会一小时", "开会", "02-28T09:30", {"endAt": "02-28T10:30"}),
    # from, to, and how long
    ("明天14:00-15:30需求评审", "需求评审", "03-01T14:00", {"endAt": "03-01T15:30"}),
    ("下午3-5点开会", "开会", "02-28T15:00", {"endAt": "02-28T17:00"}),
    ("明天9点到5点培训", "培训", "03-01T09:00", {"endAt": "03-01T17:00"}),
    ("明天上午10点到下午2点培训", "培训", "03-01T10:00", {"endAt": "03-01T14:00"}),
    ("晚上10点到12点值班", "值班", "02-28T22:00", {"endAt": "03-01T00:00"}),
    ("今晚10点到明天早上6点值班", "值班", "02-28T22:00", {"endAt": "03-01T06:00"}),
    ("明天下午3点开会两个小时", "开会", "03-01T15:00", {"endAt": "03-01T17:00"}),
    ("明天下午3点半小时的站会", "站会", "03-01T15:00", {"endAt": "03-01T15:30"}),
    ("明天晚上8点到凌晨2点值班", "值班", "03-01T20:00", {"endAt": "03-02T02:00"}),
    ("3月5日9:00-3月6日18:00出差", "出差", "03-05T09:00", {"endAt": "03-06T18:00"}),
    ("3月5日到3月8日去上海出差", "去上海出差", "03-05", {"endAt": "03-08"}),
    ("3月5日至8日年假", "年假", "03-05", {"endAt": "03-08"}),
    ("3月5-8日休假", "休假", "03-05", {"endAt": "03-08"}),
    ("5号到8号休假", "休假", "03-05", {"endAt": "03-08"}),
    ("下周一到周三出差", "出差", "03-02", {"endAt": "03-04"}),
    ("周五到周二出差", "出差", "03-06", {"endAt": "03-10"}),
    ("明天和后天请假", "请假", "03-01", {"endAt": "03-02"}),
    ("3月5日出差三天", "出差", "03-05", {"endAt": "03-07"}),
    # requests, polite and not
    ("可以帮我安排明天3点开会吗", "开会", "03-01T15:00", {}),
    ("能不能帮我预约后天下午两点的理发", "预约理发", "03-02T14:00", {}),
    ("你能提醒我明天早上8点吃药吗", "吃药", "03-01T08:00", {}),
    ("明天下午3点安排开会可以吗", "开会", "03-01T15:00", {}),
    ("麻烦你提醒我周五下午5点交报告", "交报告", "03-06T17:00", {}),
    ("帮我记一下明天交房租", "交房租", "03-01", {}),
    ("记得明天给妈妈打电话", "给妈妈打电话", "03-01", {}),
    ("别忘了后天交作业", "交作业", "03-02", {}),
    ("把明天下午3点的牙医加到日历", "牙医", "03-01T15:00", {}),
    ("新建日程：明天下午3点，产品评审，地点：会议室A", "产品评审", "03-01T15:00", {"location": "会议室A"}),
    ("明天下午3点的会议提醒我一下", "会议", "03-01T15:00", {}),
    ("我明天下午3点有个会议", "会议", "03-01T15:00", {}),
    ("定个明天早上7点的闹钟", "闹钟", "03-01T07:00", {}),
    ("设一个明天3点开会的提醒", "开会", "03-01T15:00", {}),
    ("提醒我明天下午问小王几点开会", "问小王几点开会", "03-01T14:00", {}),
    ("提醒我明天取消订阅", "取消订阅", "03-01", {}),
    ("提醒我明天准备周五的演讲", "准备周五的演讲", "03-01", {}),
    ("提前10分钟提醒我明天下午3点的会议", "会议", "03-01T15:00", {"notes": "提前10分钟"}),
    ("你好，明天下午3点提醒我开会", "开会", "03-01T15:00", {}),
    ("明天全天团建", "团建", "03-01", {}),
    ("提醒我下周三之前交报告", "交报告", "03-04", {}),
    ("女儿生日3月20日", "女儿生日", "03-20", {}),
    ("明天3点，主题是季度复盘，地点在总部大厦", "季度复盘", "03-01T15:00", {"location": "总部大厦"}),
    # places in Chinese
    ("明天3点在公司会议室A和张总讨论预算", "和张总讨论预算", "03-01T15:00", {"location": "公司会议室A"}),
    ("明天下午3点在星巴克和小王见面", "和小王见面", "03-01T15:00", {"location": "星巴克"}),
    ("明天晚上7点在万达广场看电影", "看电影", "03-01T19:00", {"location": "万达广场"}),
    ("周六晚上在家聚餐", "聚餐", "02-28T19:00", {"location": "家"}),
    ("明天下午3点开会，在会议室A", "开会", "03-01T15:00", {"location": "会议室A"}),
    # days in English
    ("remind me tomorrow at 5pm: a song that goes on and on", "song that goes on and on", "03-01T17:00", {}),
    ("remind me to turn the lights on tomorrow at 8pm", "turn the lights on", "03-01T20:00", {}),
    ("remind me to call mom tomorrow at 5", "call mom", "03-01T17:00", {}),
    ("lunch the day after tomorrow at noon", "lunch", "03-02T12:00", {}),
    ("schedule a meeting with the team next Monday at 10am", "meeting with the team", "03-02T10:00", {}),
    ("lunch with Ann on Friday at noon", "lunch with Ann", "03-06T12:00", {}),
    ("Dinner this Friday at 7:30pm at Olive Garden", "Dinner", "03-06T19:30", {"location": "Olive Garden"}),
    ("call with Max Friday next week at 10am", "call with Max", "03-06T10:00", {}),
    ("call mom on Sun at 10am", "call mom", "03-01T10:00", {}),
    ("team meeting on 5 March at 14:00", "team meeting", "03-05T14:00", {}),
    ("flight March 3rd at 9 in the morning", "flight", "03-03T09:00", {}),
    ("submit taxes by April 15th, 2027", "submit taxes", "2027-04-15", {}),
    ("interview on 3/5 at 10:30", "interview", "03-05T10:30", {}),
    ("interview on 3/5/27 at 10:30", "interview", "2027-03-05T10:30", {}),
    ("review on 2026-03-05 at 15:00", "review", "03-05T15:00", {}),
    ("appointment on the 15th at 9am", "appointment", "03-15T09:00", {}),
    ("remind me to send the invoice on the 1st of next month", "send the invoice", "03-01", {}),
    ("remind me in two days to call the plumber", "call the plumber", "03-02", {}),
    ("remind me to renew my passport in 3 months", "renew my passport", "05-28", {}),
    ("dentist appointment a week from Monday at 9am", "dentist appointment", "03-09T09:00", {}),
    ("dentist appointment a week from tomorrow at 9am", "dentist appointment", "03-08T09:00", {}),
    ("Christmas party on Christmas Eve at 6pm", "Christmas party on Christmas Eve", "12-24T18:00", {}),
    ("May 5 at 10am exam", "exam", "05-05T10:00", {}),
    # clock times in English
    ("remind me at 3 to take out the trash", "take out the trash", "02-28T15:00", {}),
    ("remind me to call at 8", "call", "03-01T08:00", {}),
    ("today at 8 call Jim", "call Jim", "02-28T20:00", {}),
    ("tomorrow at three remind me to call the bank", "call the bank", "03-01T15:00", {}),
    ("half past 8 tomorrow breakfast with Max", "breakfast with Max", "03-01T08:30", {}),
    ("quarter to nine on Monday standup", "standup", "03-02T08:45", {}),
    ("call at 10 past 5", "call", "02-28T17:10", {}),
    ("meeting at quarter past 5 pm tomorrow", "meeting", "03-01T17:15", {}),
    ("meeting tomorrow 9 o'clock", "meeting", "03-01T09:00", {}),
    ("remind me at 12am to sleep", "sleep", "03-01T00:00", {}),
    ("at midnight remind me to check the servers", "check the servers", "03-01T00:00", {}),
    ("meeting at 1530 tomorrow", "meeting", "03-01T15:30", {}),
    ("call tomorrow at 3 p.m. with Lee", "call with Lee", "03-01T15:00", {}),
    ("call tomorrow at three thirty pm", "call", "03-01T15:30", {}),
    ("yoga this evening", "yoga", "02-28T19:00", {}),
    ("coffee with Jane tomorrow morning", "coffee with Jane", "03-01T09:00", {}),
    ("drinks tomorrow evening at 6", "drinks", "03-01T18:00", {}),
    ("dinner 7 in the evening on Monday", "dinner", "03-02T19:00", {}),
    ("coffee tomorrow, in the morning", "coffee", "03-01T09:00", {}),
    ("morning run tomorrow", "morning run", "03-01", {}),
    ("coffee at 0pm tomorrow", "coffee", "03-01", {"location": "0pm"}),
    ("dinner at 7 tomorrow", "dinner", "03-01T19:00", {}),
    ("wake me up at 6 tomorrow", "wake me up", "03-01T06:00", {}),
    ("remind me in 30 minutes to check the oven", "check the oven", "02-28T09:30", {}),
    ("remind me to drink water in half an hour", "drink water", "02-28T09:30", {}),
    ("in an hour and a half remind me to stretch", "stretch", "02-28T10:30", {}),
    ("remind me 2 hours from now to stretch", "stretch", "02-28T11:00", {}),
    # from, to, and how long
    ("gym tomorrow from 6 to 7", "gym", "03-01T18:00", {"endAt": "03-01T19:00"}),
    ("workshop tomorrow 9am-5pm", "workshop", "03-01T09:00", {"endAt": "03-01T17:00"}),
    ("lunch with Ann 11-1pm on Tuesday", "lunch with Ann", "03-03T11:00", {"endAt": "03-03T13:00"}),
    ("standup tomorrow 9:15-9:30", "standup", "03-01T09:15", {"endAt": "03-01T09:30"}),
    ("call with Lee between 2 and 4pm tomorrow", "call with Lee", "03-01T14:00", {"endAt": "03-01T16:00"}),
    ("meeting for 2 hours tomorrow at 1pm", "meeting", "03-01T13:00", {"endAt": "03-01T15:00"}),
    ("meeting for an hour and a half tomorrow at 1pm", "meeting", "03-01T13:00", {"endAt": "03-01T14:30"}),
    ("vacation from March 5 to March 8", "vacation", "03-05", {"endAt": "03-08"}),
    ("vacation March 5-8", "vacation", "03-05", {"endAt": "03-08"}),
    # requests, polite and not
    ("could you remind me to call Bob tomorrow at 3pm?", "call Bob", "03-01T15:00", {}),
    ("would you mind reminding me to call Bob tomorrow at 3?", "call Bob", "03-01T15:00", {}),
    ("can you schedule a meeting with Tom on Thursday at 2pm?", "meeting with Tom", "03-05T14:00", {}),
    ("I'd like to schedule lunch with Joe for next Tuesday at 12:30", "lunch with Joe", "03-03T12:30", {}),
    ("I have a dentist appointment tomorrow at 3pm", "dentist appointment", "03-01T15:00", {}),
    ("I need to pick up the kids at 5", "pick up the kids", "02-28T17:00", {}),
    ("I'm meeting Bob tomorrow at 3", "meeting Bob", "03-01T15:00", {}),
    ("don't forget to submit the report by Friday 5pm", "submit the report", "03-06T17:00", {}),
    ("add dentist appointment on March 10 at 9:30 am to my calendar", "dentist appointment", "03-10T09:30", {}),
    ("put lunch with Ann on my calendar for Tuesday at noon", "lunch with Ann", "03-03T12:00", {}),
    ('create an event called "Q3 sync" tomorrow at 2pm', "Q3 sync", "03-01T14:00", {}),
    ("set a reminder for tomorrow at 8am to take medicine", "take medicine", "03-01T08:00", {}),
    ("set an alarm for 7am tomorrow", "alarm", "03-01T07:00", {}),
    ("new event: board meeting March 10 9am-11am", "board meeting", "03-10T09:00", {"endAt": "03-10T11:00"}),
    ("book club on Thursday at 7pm", "book club", "03-05T19:00", {}),
    ("remind me to book a flight tomorrow at 9am", "book a flight", "03-01T09:00", {}),
    ("remind me to prepare for Friday's demo tomorrow at 9am", "prepare for Friday's demo", "03-01T09:00", {}),
    (
        "remind me 10 minutes before the meeting tomorrow at 3pm",
        "meeting",
        "03-01T15:00",
        {"notes": "10 minutes before"},
    ),
    ("remind me to ask Bob what time it starts tomorrow at 9am", "ask Bob what time it starts", "03-01T09:00", {}),
    ("待办：周三前写完报告", "写完报告", "03-04", {}),
    ("kickoff, March 9th, 2pm - 4pm, room 301", "kickoff, room 301", "03-09T14:00", {"endAt": "03-09T16:00"}),
    ("Schedule team offsite for next Friday all day", "team offsite", "03-06", {}),
    ("Thanks! remind me to call Bob at 5pm", "call Bob", "02-28T17:00", {}),
    ("remind me to 喝水 tomorrow at 3pm", "喝水", "03-01T15:00", {}),
    # places in English
    (
        "meet Lisa at the Golden Dragon tomorrow at 6:30pm",
        "meet Lisa",
        "03-01T18:30",
        {"location": "the Golden Dragon"},
    ),
    ("meeting in room 5 on Monday at 10", "meeting", "03-02T10:00", {"location": "room 5"}),
    ("conference in Berlin on April 20", "conference", "04-20", {"location": "Berlin"}),
    ("meet at 5 Main Street tomorrow at 3pm", "meet", "03-01T15:00", {"location": "5 Main Street"}),
    ("remind me to look at the report tomorrow at 10", "look at the report", "03-01T10:00", {}),
    ("schedule a meeting with bob@example.com tomorrow at 2pm", "meeting with bob@example.com", "03-01T14:00", {}),
    ("remind me to call John at 555-1234 tomorrow at 4pm", "call John at 555-1234", "03-01T16:00", {}),
]


def full(time: str) -> str:
    dated = time if time.startswith("20") else f"2026-{time}"
    return f"{dated}:00+08:00" if "T" in dated else dated


@pytest.mark.parametrize(("text", "title", "start", "rest"), CREATED, ids=[row[0] for row in CREATED])
def test_a_request_makes_an_event(text: str, title: str, start: str, rest: dict[str, str]):
    rest = {key: full(value) if key == "endAt" else value for key, value in rest.items()}

    intent = read_intent(text, NOW, SHANGHAI)

    assert intent.args == {"title": title, "startAt": full(start), "timezone": SHANGHAI, **rest}
    assert (intent.kind, intent.tool) == (Kind.CREATE, "create_calendar_event")
    assert json.loads(intent.args_text) == intent.args


READ: list[tuple[str, str, str]] = [
    ("明天下午3点我有会吗", "03-01T15:00", "03-01T16:00"),
    ("明天下午有什么安排", "03-01T12:00", "03-01T18:00"),
    ("今晚有安排吗", "02-28T18:00", "03-01T00:00"),
    ("今天下午3点之后有空吗", "02-28T15:00", "03-01T00:00"),
    ("明天下午3点之前有空吗", "03-01T00:00", "03-01T15:00"),
    ("明天3点到5点我有空吗", "03-01T15:00", "03-01T17:00"),
    ("两小时后我有会吗", "02-28T11:00", "02-28T12:00"),
    ("我今天忙吗", "02-28T00:00", "03-01T00:00"),
    ("下周三有什么会议", "03-04T00:00", "03-05T00:00"),
    ("后天有没有安排", "03-02T00:00", "03-03T00:00"),
    ("帮我看看明天有什么会", "03-01T00:00", "03-02T00:00"),
    ("告诉我明天的安排", "03-01T00:00", "03-02T00:00"),
    ("明天的安排", "03-01T00:00", "03-02T00:00"),
    ("明天有什么", "03-01T00:00", "03-02T00:00"),
    ("下个月有哪些日程", "03-01T00:00", "04-01T00:00"),
    ("3月有什么安排", "03-01T00:00", "04-01T00:00"),
    ("明年有什么安排", "2027-01-01T00:00", "2028-01-01T00:00"),
    ("本周日程", "02-23T00:00", "03-02T00:00"),
    ("上周我有什么会议", "02-16T00:00", "02-23T00:00"),
    ("周末有空吗", "02-28T00:00", "03-02T00:00"),
    ("周一到周三有什么安排", "03-02T00:00", "03-05T00:00"),
    ("明天和后天有什么安排", "03-01T00:00", "03-03T00:00"),
    ("未来三天有什么安排", "02-28T00:00", "03-03T00:00"),
    ("未来两周有什么安排", "02-28T00:00", "03-14T00:00"),
    ("接下来一个月有什么安排", "02-28T00:00", "03-28T00:00"),
    ("最近有什么安排", "02-28T00:00", "03-07T00:00"),
    ("我的日程", "02-28T00:00", "03-07T00:00"),
    ("昨天我做了什么", "02-27T00:00", "02-28T00:00"),
    ("提醒我一下明天有什么安排", "03-01T00:00", "03-02T00:00"),
    ("我是不是安排了明天下午3点的会议", "03-01T15:00", "03-01T16:00"),
    ("你提醒我明天开会了吗", "03-01T00:00", "03-02T00:00"),
    ("明天3点开会吗", "03-01T15:00", "03-01T16:00"),
    ("could you tell me what's on tomorrow?", "03-01T00:00", "03-02T00:00"),
    ("can you remind me what's on tomorrow?", "03-01T00:00", "03-02T00:00"),
    ("do I have any meetings tomorrow at 3pm?", "03-01T15:00", "03-01T16:00"),
    ("am I free on Friday afternoon?", "03-06T12:00", "03-06T18:00"),
    ("Is there anything after 3pm tomorrow?", "03-01T15:00", "03-02T00:00"),
    ("what do I have before noon tomorrow", "03-01T00:00", "03-01T12:00"),
    ("what do I have this weekend", "02-28T00:00", "03-02T00:00"),
    ("show me my calendar for next week", "03-02T00:00", "03-09T00:00"),
    ("show me my calendar for the week after next", "03-09T00:00", "03-16T00:00"),
    ("list my events for March 5", "03-05T00:00", "03-06T00:00"),
    ("what events do I have in March", "03-01T00:00", "04-01T00:00"),
    ("are there any events this month?", "02-01T00:00", "03-01T00:00"),
    ("what are my plans for tonight?", "02-28T18:00", "03-01T00:00"),
    ("what meetings do I have in the next 3 days", "02-28T00:00", "03-03T00:00"),
    ("what meetings do I have in the coming weeks", "02-28T00:00", "04-18T00:00"),
    ("what meetings do I have over the next two months", "02-28T00:00", "04-28T00:00"),
    ("tomorrow's meetings", "03-01T00:00", "03-02T00:00"),
    ("schedule for tomorrow", "03-01T00:00", "03-02T00:00"),
    ("my calendar", "02-28T00:00", "03-07T00:00"),
    ("did I schedule a meeting tomorrow at 3?", "03-01T15:00", "03-01T16:00"),
    ("what did I do yesterday", "02-27T00:00", "02-28T00:00"),
    ("should I schedule a meeting for tomorrow at 3?", "03-01T15:00", "03-01T16:00"),
]


@pytest.mark.parametrize(("text", "start", "end"), READ, ids=[row[0] for row in READ])
def test_a_question_about_the_calendar_reads_it(text: str, start: str, end: str):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.tool) == (Kind.READ, "calendar_read")
    assert intent.args == {"start": full(start), "end": full(end)}


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("我什么时候有牙医预约", "牙医"),
        ("产品评审会议是什么时候", "产品评审"),
        ("我和王总的会是几点", "王总"),
        ("下一个会议是什么时候", None),
        ("when is my dentist appointment?", "dentist"),
        ("when is my next meeting?", None),
        ("what's next?", None),
    ],
)
def test_a_question_for_when_something_is_looks_for_it_in_the_next_months(text: str, sought: str | None):
    intent = read_intent(text, NOW, SHANGHAI)

    ahead = {"start": "2026-02-28T09:00:00+08:00", "end": "2026-05-29T00:00:00+08:00"}
    assert intent.args == (ahead | {"text": sought} if sought else ahead)


NOT_CALLED: list[tuple[str, Kind]] = [
    # a time alone, a thing alone
    ("", Kind.OTHER),
    ("明天", Kind.ASK_WHAT),
    ("明天下午3点", Kind.ASK_WHAT),
    ("半小时后", Kind.ASK_WHAT),
    ("周五晚上", Kind.ASK_WHAT),
    ("圣诞节", Kind.ASK_WHAT),
    ("明天3点在会议室A", Kind.ASK_WHAT),
    ("tomorrow", Kind.ASK_WHAT),
    ("3pm", Kind.ASK_WHAT),
    ("at 5", Kind.ASK_WHAT),
    ("noon", Kind.ASK_WHAT),
    ("it's 3pm", Kind.ASK_WHAT),
    ("明天见", Kind.ASK_WHAT),
    ("你能提醒我吗", Kind.ASK_WHAT),
    ("提醒我", Kind.ASK_WHAT),
    ("1小时后叫我", Kind.ASK_WHAT),
    ("can you remind me?", Kind.ASK_WHAT),
    ("Can you create events?", Kind.ASK_WHAT),
    ("remind me tomorrow at noon", Kind.ASK_WHAT),
    ("提醒我喝水", Kind.ASK_WHEN),
    ("安排会议", Kind.ASK_WHEN),
    ("remind me to drink water", Kind.ASK_WHEN),
    # no time that can be placed
    ("下周提醒我交报告", Kind.ASK_DAY),
    ("周末去爬山", Kind.ASK_DAY),
    ("next week remind me to submit the report", Kind.ASK_DAY),
    ("每周一上午9点开例会", Kind.REPEATING),
    ("remind me every day to take my pills", Kind.REPEATING),
    ("yoga on Mondays at 9", Kind.REPEATING),
    ("春节提醒我给爸妈打电话", Kind.ALMANAC),
    ("remind me on Easter to call grandma", Kind.ALMANAC),
    ("明天10点开会，3点看牙医", Kind.ASK_ONE),
    ("提醒我周一、周三下午3点上课", Kind.ASK_ONE),
    ("remind me on Monday and Thursday to water the plants", Kind.ASK_ONE),
    ("明天晚上八点和晚上十点各开一个会", Kind.ASK_ONE),
    ("meeting at 3pm and call at 5pm tomorrow", Kind.ASK_ONE),
    ("昨天下午3点开会", Kind.PAST),
    ("今天上午8点开会", Kind.PAST),
    ("meeting yesterday", Kind.PAST),
    ("meeting today at 8am", Kind.PAST),
    ("提醒我99999999999小时后开会", Kind.ASK_WHEN),
    # statements
    ("今天好累", Kind.ASK_WHETHER),
    ("明天是周日", Kind.ASK_WHETHER),
    ("我早上6点起床了", Kind.ASK_WHETHER),
    ("现在3点", Kind.ASK_WHETHER),
    ("我不想明天3点开会", Kind.ASK_WHETHER),
    ("明天加油干", Kind.ASK_WHETHER),
    ("I love Mondays", Kind.ASK_WHETHER),
    ("I was tired yesterday", Kind.ASK_WHETHER),
    ("I woke up at 6am", Kind.ASK_WHETHER),
    ("I'm busy tomorrow at 3", Kind.ASK_WHETHER),
    ("明天25点开会", Kind.NO_SUCH_TIME),
    ("schedule a meeting at 25:00 tomorrow", Kind.NO_SUCH_TIME),
    ("meeting tomorrow at 12:75", Kind.NO_SUCH_TIME),
    ("25点开会", Kind.OTHER),
    ("0号开会", Kind.OTHER),
    ("9999年12月31日晚上12点开会", Kind.ALMANAC),
    ("0001年1月1日开会", Kind.ALMANAC),
    ("99999999天后开会", Kind.ALMANAC),
    ("开会5000000天", Kind.ALMANAC),
    ("2月30日开会", Kind.ASK_DAY),
    ("3月8日到5日开会", Kind.ALMANAC),
    ("第十一点开会", Kind.OTHER),
    ("13月5日开会", Kind.OTHER),
    ("快一点", Kind.OTHER),
    ("我有3点建议", Kind.OTHER),
    ("坐5号线去", Kind.OTHER),
    # small talk and the world
    ("早上好", Kind.GREETING),
    ("good morning", Kind.GREETING),
    ("谢谢你", Kind.THANKS),
    ("thanks a lot!", Kind.THANKS),
    ("你能做什么", Kind.HELP),
    ("怎么创建日程", Kind.HELP),
    ("what can you do", Kind.HELP),
    ("How do I schedule a meeting?", Kind.HELP),
    ("今天天气怎么样", Kind.WEATHER),
    ("明天会下雨吗", Kind.WEATHER),
    ("what's the weather tomorrow?", Kind.WEATHER),
    ("什么是日程", Kind.OTHER),
    ("明天3点开会是什么意思", Kind.OTHER),
    ("为什么明天3点要开会？", Kind.OTHER),
    ("怎么提醒我明天3点开会呢", Kind.OTHER),
    ("圣诞节是哪天", Kind.OTHER),
    ("会议室在哪", Kind.OTHER),
    ("who won the game on Friday?", Kind.OTHER),
    ("Is Monday a holiday?", Kind.OTHER),
    ("When is Easter?", Kind.OTHER),
    ("why should I book a meeting tomorrow at 3?", Kind.OTHER),
    ("book a table tonight at 7?", Kind.OTHER),
    ("tell me a joke", Kind.OTHER),
    ("it works 24/7", Kind.OTHER),
    # what it cannot do
    ("取消明天的会议", Kind.CHANGE),
    ("把明天3点的会改到后天", Kind.CHANGE),
    ("不用提醒我明天开会", Kind.CHANGE),
    ("cancel my meeting tomorrow", Kind.CHANGE),
    ("move the 3pm meeting to Friday", Kind.CHANGE),
    ("don't remind me tomorrow", Kind.CHANGE),
]


@pytest.mark.parametrize(("text", "kind"), NOT_CALLED, ids=[row[0] for row in NOT_CALLED])
def test_anything_else_is_answered_without_a_call(text: str, kind: Kind):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.tool, intent.args) == (kind, None, {})


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("现在几点了", None),
        ("what time is it?", None),
        ("明天星期几", "2026-03-01"),
        ("what day is tomorrow?", "2026-03-01"),
    ],
)
def test_a_question_for_the_clock_names_the_day(text: str, day: str | None):
    intent = read_intent(text, NOW, SHANGHAI)

    assert (intent.kind, intent.day and intent.day.isoformat()) == (Kind.CLOCK, day)


@pytest.mark.parametrize(
    ("text", "tool", "args_text"),
    [
        ('#tool:a {"b": 1}', "a", '{"b": 1}'),
        (" #tool:a\n{bad json ", "a", "{bad json"),
        ("#tool:a", "a", ""),
        ('#tool:a{"b":1}', 'a{"b":1}', ""),
    ],
)
def test_a_forced_call_goes_through_as_it_is(text: str, tool: str, args_text: str):
    assert read_intent(text, NOW, SHANGHAI) == Intent(Kind.FORCED, tool=tool, args_text=args_text)


@pytest.mark.parametrize(
    ("text", "now", "timezone", "start"),
    [
        # the reader's day, not the server's
        ("remind me to stretch tomorrow at 9am", "2026-11-30T20:30:00Z", "Asia/Shanghai", "2026-12-02T09:00:00+08:00"),
        ("明天上午10点提醒我开会", "2026-02-28T09:00:00-05:00", "America/New_York", "2026-03-01T10:00:00-05:00"),
        # the nights the clocks change
        ("meeting tomorrow at 9am", "2026-03-07T12:00:00-05:00", "America/New_York", "2026-03-08T09:00:00-04:00"),
        ("meeting tomorrow at 2:30am", "2026-03-07T12:00:00-05:00", "America/New_York", "2026-03-08T03:30:00-04:00"),
        ("remind me in 2 hours to go", "2026-03-08T01:30:00-05:00", "America/New_York", "2026-03-08T04:30:00-04:00"),
        ("remind me in 2 hours to go", "2026-11-01T00:30:00-04:00", "America/New_York", "2026-11-01T01:30:00-05:00"),
        # seconds are not said
        ("半小时后提醒我开会", "2026-02-28T09:00:42.5+08:00", "Asia/Shanghai", "2026-02-28T09:30:00+08:00"),
        ("周二下午3点开会", "2026-03-03T16:00:00+08:00", "Asia/Shanghai", "2026-03-10T15:00:00+08:00"),
    ],
)
def test_times_are_the_readers(text: str, now: str, timezone: str, start: str):
    intent = read_intent(text, datetime.fromisoformat(now), timezone)

    assert (intent.args["startAt"], intent.args["timezone"]) == (start, timezone)


def test_a_span_that_began_this_week_ends_after_it_begins():
    tuesday = datetime.fromisoformat("2026-03-03T09:00:00+08:00")

    intent = read_intent("周一到周三有什么安排", tuesday, SHANGHAI)

    assert intent.args == {"start": "2026-03-09T00:00:00+08:00", "end": "2026-03-12T00:00:00+08:00"}


def test_a_long_title_is_cut_and_kept_whole_in_the_description():
    thing = "很" * 150
    intent = read_intent(f"提醒我明天{thing}", NOW, SHANGHAI)

    assert intent.args == {
        "title": "很" * 99 + "…",
        "startAt": "2026-03-01",
        "timezone": SHANGHAI,
        "description": thing,
    }


def test_what_is_longer_than_a_sentence_is_no_request():
    assert read_intent("提醒我明天" + "买菜" * 500, NOW, SHANGHAI) == Intent(Kind.TOO_LONG)


WORDS = (
    *("明天", "下周三", "3点", "半", "到", "5点半", "提醒我", "开会", "在会议室A", "吗", "月", "号", "，", "？", "\n"),
    *(" remind me ", " tomorrow ", " at 3 ", "pm", " to ", " from ", " Friday", "'s ", " in ", " half ", "99"),
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=12).map("".join))
def test_any_text_has_an_intent(text: str):
    intent: Any = read_intent(text, NOW, SHANGHAI)

    assert (intent.tool is None) == (intent.args_text == "") or intent.kind is Kind.FORCED
    assert 0 <= len(intent.title) <= 300

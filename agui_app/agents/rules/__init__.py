"""The rule agent: a calendar assistant with no key and no network, in Chinese and English.

Enter at `agent.RulesAgent`. A sentence goes through four files: `chinese` and `english` find the times in it
(`tokens`), `moments` makes them a moment or a span, `titles` takes what is left as title and place, `intent` says
what is wanted. Dates are read by a grammar of our own and not by jionlp and dateparser: both give a date without
the place where it stood (the title is what remains), read 下周日程 as the Sunday 下周日, know neither 3-5pm nor the
rule that a bare 3 is the afternoon, and together cost a second and a half at the first message.
"""

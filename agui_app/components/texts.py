"""Every word of the page, in both languages."""

from __future__ import annotations

import reflex as rx

from agui_app.state.preferences import Preferences

TEXTS: dict[str, tuple[str, str]] = {
    "conversation": ("Conversation", "对话"),
    "conversations": ("Conversations", "会话"),
    "message": ("Message", "消息"),
    "placeholder": ("Write a message", "输入消息"),
    "send": ("Send", "发送"),
    "stop": ("Stop", "停止"),
    "progress": ("Progress", "进度"),
    "intent": ("Intent", "意图"),
    "execution": ("Execution", "执行"),
    "report": ("Report", "汇报"),
    "new_thread": ("New conversation", "新会话"),
    "menu": ("Show conversations", "显示会话列表"),
    "close": ("Close", "关闭"),
    "no_threads": ("Nothing here yet", "还没有会话"),
    "search": ("Search conversations", "搜索会话"),
    "nothing_found": ("Nothing found", "没有找到"),
    "more_about": ("More about", "更多："),
    "rename": ("Rename", "重命名"),
    "title": ("Title", "标题"),
    "delete": ("Delete", "删除"),
    "delete_this": ("Delete this conversation?", "删除此会话？"),
    "delete_more": (
        "Its messages are gone for good. Events in the calendar stay.",
        "其中的消息将永久删除，日历中的日程会保留。",
    ),
    "cancel": ("Cancel", "取消"),
    "untitled": ("Untitled", "未命名"),
    "greeting": ("What shall I put in your calendar?", "今天要安排什么？"),
    "greeting_more": ("Say it in your own words, for example:", "直接说就行，例如："),
    "loading": ("Loading older messages", "正在加载更早的消息"),
    "beginning": ("The beginning of the conversation", "会话从这里开始"),
    "pending": ("Waiting", "等待中"),
    "executing": ("Running", "执行中"),
    "completed": ("Done", "已完成"),
    "error": ("Failed", "失败"),
    "arguments": ("Arguments", "参数"),
    "bad_arguments": ("Could not read the arguments", "无法读取参数"),
    "no_payload": ("The full result is not available", "完整结果不可用"),
    "raw": ("Raw data", "原始数据"),
    "reasoning": ("Reasoning", "思考"),
    "activity": ("Activity", "动态"),
    "interrupted": ("Interrupted", "已中断"),
    "cancelled": ("Stopped", "已停止"),
    "failed": ("Failed", "失败"),
    "not_sent": ("Not sent", "未发送"),
    "not_sent_yet": ("Not sent yet: no connection", "尚未发送：没有连接"),
    "try_again": ("Try again", "再试一次"),
    "retry": ("Retry", "重试"),
    "connection_lost": ("Connection lost. Reconnecting…", "连接已断开，正在重新连接…"),
    "gone": ("This conversation was deleted", "此会话已被删除"),
    "local_time": ("Your time: ", "你的时间："),
    "result": ("Result", "结果"),
    "you": ("You", "你"),
    "candidates": ("Several match", "有多个匹配"),
    "no_events": ("No events", "没有日程"),
    "problem": ("Something went wrong", "出了点问题"),
}

SUGGESTIONS: tuple[tuple[str, str], ...] = (
    ("remind me to call the bank tomorrow at 3pm", "明天上午10点提醒我开会"),
    ("what's on my calendar this week?", "这周有什么安排？"),
    ("schedule a design review on Friday from 2pm to 3:30pm", "周五下午3点到5点在会议室A开评审会"),
)


def t(key: str) -> rx.Var[str]:
    """The text `key` in the reader's language."""
    english, chinese = TEXTS[key]
    return rx.cond(Preferences.locale == "zh", chinese, english)

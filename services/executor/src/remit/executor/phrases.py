"""What the Executor itself says to people when an agent cannot: plain, short, in their language.

The agent says everything else (TON-2, TON-4). None of these may address the agent, or it would
answer itself (field report B6).
"""

from __future__ import annotations

from remit.domain.language import Language
from remit.executor.agents import Trouble

_OUTPUT = 1_500
"""Characters of a program's or an agent's words that are passed on, from their end."""

_TROUBLES: dict[Language, dict[Trouble, str]] = {
    Language.ENGLISH: {
        Trouble.CANNOT_START: "the program that does the work does not start",
        Trouble.DIED: "the program that does the work stopped unexpectedly",
        Trouble.REFUSED: "the model declined this request",
        Trouble.TOO_SLOW: "it took longer than it may",
        Trouble.UNUSABLE: "the program that does the work does not answer as it should",
    },
    Language.CHINESE: {
        Trouble.CANNOT_START: "执行程序无法启动",
        Trouble.DIED: "执行程序意外退出",
        Trouble.REFUSED: "模型拒绝了这个请求",
        Trouble.TOO_SLOW: "超过了允许的时间",
        Trouble.UNUSABLE: "执行程序没有正常响应",
    },
}


def failed(trouble: Trouble, tries: int, language: Language) -> str:
    """Return the report of work that was tried several times and did not come about."""
    cause = _TROUBLES[language][trouble]
    if language is Language.CHINESE:
        return f"这件事没有做成：{cause}（已尝试 {tries} 次）。您的消息没有丢失；再回复一条，我会重试。"
    times = "once" if tries == 1 else f"{tries} times"
    return (
        f"I could not do this: {cause} (tried {times}). "
        "Nothing you wrote is lost; write again and I will try once more."
    )


def interrupted_too_often(tries: int, language: Language) -> str:
    """Return the report of work under which the host itself kept dying."""
    if language is Language.CHINESE:
        return f"这件事没有做成：运行环境在执行中 {tries} 次中断。您的消息没有丢失；再回复一条，我会重试。"
    return (
        f"I could not do this: the machine it runs on was interrupted {tries} times while I "
        "worked. Nothing you wrote is lost; write again and I will try once more."
    )


def not_prepared(reason: str, output: str, tries: int, language: Language) -> str:
    """Return the report of a preparation that failed, with its output (ENV-3)."""
    shown = _fenced(output) if output else ""
    if language is Language.CHINESE:
        return (
            f"工作目录没有准备好（已尝试 {tries} 次）：{reason}{shown}\n"
            "问题解决后再回复一条，我会重试。"
        )
    times = "once" if tries == 1 else f"{tries} times"
    return (
        f"I could not set up a directory to work in (tried {times}): {reason}{shown}\n"
        "Write again when this is put right and I will try once more."
    )


def silent(last_words: str, language: Language) -> str:
    """Return the report of work that ended without a word on how it went (field report C13)."""
    shown = _fenced(last_words) if last_words else ""
    if language is Language.CHINESE:
        lead = "我停下来了，但说不清结果如何；没有确认任何事情已完成。"
        tail = f"\n最后的记录：{shown}" if shown else ""
        return f"{lead}{tail}"
    lead = "I stopped without being able to say how it went; take nothing as done."
    tail = f"\nThe last of my notes:{shown}" if shown else ""
    return f"{lead}{tail}"


def _fenced(text: str) -> str:
    """Return the end of ``text`` as a block of its own, which it cannot close."""
    kept = text[-_OUTPUT:].strip()
    fence = "```"
    while fence in kept:
        fence += "`"
    return f"\n\n{fence}\n{kept}\n{fence}\n"

"""What Remit itself says to people: plain, short, in their language (TON-2, TON-4).

None of these may hold what addresses the agent, or it would answer itself (field report B6).
"""

from __future__ import annotations

from collections.abc import Sequence

from remit.domain.language import Language


def acknowledgement(title: str, language: Language) -> str:
    """Return the one confirmation of a request; it names what will be done."""
    if language is Language.CHINESE:
        return f"收到，我来处理：{title}。有结果会在这里回复。"
    return f"On it: {title}. I will write here when there is a result."


def question(text: str, choices: Sequence[str], language: Language) -> str:
    """Return a question to a person, with its choices numbered."""
    if not choices:
        return text
    lead = "可选：" if language is Language.CHINESE else "Choices:"
    return "\n".join([text, "", lead, *(f"{n}. {choice}" for n, choice in enumerate(choices, 1))])

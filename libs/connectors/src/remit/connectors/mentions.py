"""Whether a text addresses the agent: the one mention parser of every connector.

Where the platform itself says whom a message mentions, that alone counts (`is_addressed` with
``mentioned_ids``): a mention of everybody, or a name in the text, is not the agent's own id.
Elsewhere the text is read as Markdown, and a name counts only where a person speaks: not in code,
quotations, links, HTML comments, or the tail that an e-mail program adds, not inside an e-mail
address, and not as a part of a longer name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

import regex
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from remit.connectors.markdown_lines import Lines

__all__ = ["Mention", "find_mentions", "is_addressed", "strip"]


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a text addresses the agent.

    Attributes:
        start: Index of the ``@``.
        end: Index after the name.
        login: The agent's login, as it was given, whatever case the text has it in.
    """

    start: int
    end: int
    login: str


def is_addressed(
    text: str,
    *,
    logins: Collection[str] = (),
    own_ids: Collection[str] = (),
    mentioned_ids: Collection[str] | None = None,
) -> bool:
    """Tell whether a message addresses the agent.

    Args:
        text: The message, as Markdown.
        logins: The agent's names on the platform, with or without ``@``; case does not matter.
        own_ids: The agent's ids on the platform.
        mentioned_ids: The ids that the platform says are mentioned, where it says so. Then the
            text is not read: the message addresses the agent if one of these ids is its own, and
            an empty list addresses nobody.
    """
    if mentioned_ids is not None:
        return not set(own_ids).isdisjoint(mentioned_ids)
    return bool(find_mentions(text, logins))


def find_mentions(text: str, logins: Collection[str]) -> tuple[Mention, ...]:
    """Return every place where a Markdown text addresses the agent, in order.

    Args:
        text: The message, as Markdown.
        logins: The agent's names, with or without ``@``; case does not matter.

    Raises:
        ValueError: A login is empty.
    """
    names = _names(logins)
    folded = text.casefold()
    if not any(name.casefold() in folded for name in names):
        return ()
    text = text.replace("\0", "\ufffd")  # as the parser does, which forgets the difference
    lines = Lines(text)
    tokens = _parser(names).parse(text)
    tail = _tail_lines(lines, tokens)
    found = [it for it in _walk(tokens, lines, names) if lines.line_at(it.start) not in tail]
    return tuple(sorted(found, key=lambda it: it.start))


def strip(text: str, logins: Collection[str]) -> str:
    """Return a request without the mention it starts with, and without blanks around it.

    A mention anywhere else stays, since the sentence around it needs it.

    Raises:
        ValueError: A login is empty.
    """
    rest = text.strip()
    while (found := find_mentions(rest, logins)) and found[0].start == 0:
        after = _SEPARATOR.sub("", rest[found[0].end :], count=1)
        rest = _BLANK_LINES.sub("", after, count=1).rstrip()
    return rest


_SEPARATOR = re.compile(r"\A[ \t]*[,，:：;；、.。!！—–]*[ \t]*")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\r?\n)+")


def _names(logins: Iterable[str]) -> tuple[str, ...]:
    names = tuple(login.removeprefix("@") for login in logins)
    if not all(names):
        raise ValueError("a login of the agent is empty")
    # The longest first, so that one login that starts with another is seen whole.
    return tuple(sorted(names, key=len, reverse=True))


# -- one name in prose ------------------------------------------------------------------------

# Characters that make one word with a name beside them. Scripts that are written without spaces
# between words are not among them: 请@remit-bot看看 addresses the agent.
_WORD = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}_]")
_IN_ADDRESS = frozenset("+=")
# What goes on after a name that is none of the agent's: a longer login, a team, a host.
_LONGER = regex.compile(
    r"-|/[\p{Latin}\p{Nd}]|\[bot\]|\.+[\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}_]|@[a-z0-9-]+\.[a-z]",
    regex.IGNORECASE,
)
_LONGEST_URL = 2048


def _name_at(text: str, at: int, names: tuple[str, ...]) -> str | None:
    """Return which of the agent's names the ``@`` at an index starts."""
    underscores = 0
    while at > underscores and text[at - underscores - 1] == "_":
        underscores += 1
    before = text[max(0, at - underscores - _LONGEST_URL) : at - underscores]
    if before and (_WORD.match(before[-1]) or before[-1] in _IN_ADDRESS or _in_url(before)):
        return None
    for name in names:
        end = at + 1 + len(name)
        if _same(text[at + 1 : end], name) and _ends(text, end, underscores=underscores):
            return name
    return None


def _in_url(before: str) -> bool:
    """Tell whether what stands directly before an ``@`` is a part of a URL."""
    if before[-1].isspace():
        return False
    piece = before.split()[-1]
    return "://" in piece or (piece.endswith("/") and "." in piece)


def _same(written: str, name: str) -> bool:
    # Letters outside ASCII that fold to ASCII ones, such as the Kelvin sign, are not the name.
    if name.isascii() and not written.isascii():
        return False
    return written.casefold() == name.casefold()


def _ends(text: str, end: int, *, underscores: int) -> bool:
    """Tell whether a name ends at an index, and no longer name or address goes on.

    As many underscores as stand before the name are there to emphasise it.
    """
    while underscores and text[end : end + 1] == "_":
        end, underscores = end + 1, underscores - 1
    return not (_WORD.match(text, end) or _LONGER.match(text, end))


# -- where a person speaks --------------------------------------------------------------------

_NOT_PROSE = frozenset(
    ["blockquote", "code", "kbd", "pre", "samp", "script", "style", "textarea", "tt"]
)
_HTML_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_HTML_COMMENT = re.compile(r"<!--.*?(?:--!?>|\Z)", re.DOTALL)
_MENTION = "mention"


def _parser(names: tuple[str, ...]) -> MarkdownIt:
    """Return a Markdown parser to which a mention is a token of its own."""

    def mention(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "@":
            return False
        name = _name_at(state.src, state.pos, names)
        if name is None:
            return False
        if not silent:
            token = state.push(_MENTION, "", 0)
            token.content = name
            token.meta = {"at": state.pos}
        state.pos += 1 + len(name)
        return True

    parser = MarkdownIt("commonmark")
    parser.inline.ruler.before("text", _MENTION, mention)
    return parser


def _walk(tokens: list[Token], lines: Lines, names: tuple[str, ...]) -> Iterator[Mention]:
    quoted = 0
    html = _HtmlProse()
    for token in tokens:
        if token.type == "blockquote_open":
            quoted += 1
        elif token.type == "blockquote_close":
            quoted -= 1
        elif token.type == "html_block":
            for at in html.mentions_in(token.content):
                name = _name_at(token.content, at, names)
                if name is not None and not quoted:
                    yield _to_mention(lines, token, at, name)
        elif token.type == "inline" and not quoted and not html.depth:
            for at, name in _inline_mentions(token.children or []):
                yield _to_mention(lines, token, at, name)


def _inline_mentions(children: list[Token]) -> Iterator[tuple[int, str]]:
    outside = 0
    for child in children:
        if child.type == "link_open":
            outside += 1
        elif child.type == "link_close":
            outside -= 1
        elif child.type == "html_inline":
            tag = _HTML_TAG.match(child.content)
            if tag and tag[2].lower() in _NOT_PROSE and not child.content.endswith("/>"):
                outside = max(0, outside + (-1 if tag[1] else 1))
        elif child.type == _MENTION and not outside:
            yield child.meta["at"], child.content


class _HtmlProse(HTMLParser):
    """Finds the ``@`` signs in HTML blocks that stand in prose.

    Attributes:
        depth: How many elements that are not prose are open; they stay open across blocks.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.depth = 0
        self._lines = Lines("")
        self._found: list[int] = []

    def mentions_in(self, content: str) -> list[int]:
        """Return the index of each ``@`` of a block that may start a mention."""
        self.reset()
        without_comments = _HTML_COMMENT.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), content)
        self._lines = Lines(content)
        self._found = []
        self.feed(without_comments)
        self.close()
        return self._found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Note an element that is not prose."""
        self.depth += tag in _NOT_PROSE

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element that is not prose."""
        self.depth = max(0, self.depth - (tag in _NOT_PROSE))

    def handle_data(self, data: str) -> None:
        """Note the signs of a piece of text."""
        if self.depth:
            return
        row, column = self.getpos()
        start = self._lines.starts[row - 1] + column
        self._found += [start + it.start() for it in re.finditer("@", data)]


def _to_mention(lines: Lines, token: Token, at: int, name: str) -> Mention:
    """Return a mention at an index of a token's content as a place in the text.

    The content's lines are the text's without what makes them a list, a heading, or so.
    """
    assert token.map is not None
    before = token.content[:at]
    row = before.count("\n")
    column = at - (before.rfind("\n") + 1)
    shown = token.content.split("\n")[row].rstrip()
    indent = len(shown) - len(shown.lstrip())
    number = token.map[0] + row
    start = lines.starts[number] + lines.line(number).rfind(shown.lstrip()) + column - indent
    return Mention(start, start + 1 + len(name), name)


# -- the tail of an e-mail --------------------------------------------------------------------

_SIGNATURE = "-- "
_SAID = re.compile(
    r"\s*(?:On\b.*\bwrote|.*写道|Le\b.*\ba écrit|Am\b.*\bschrieb\b.*)\s*[:：]\s*", re.DOTALL
)
_DATED = re.compile(r"\d{4}|\d{1,2}:\d{2}|\S+@\S+\.\S+")
_ORIGINAL = re.compile(
    r"\s*-{2,}\s*(?:Original Message|Forwarded message|原始邮件|转发邮件)\s*-{2,}\s*", re.IGNORECASE
)
_SENDER = re.compile(r"\s*\**(?:From:|发件人\s*[:：]).*")
_HEADER = re.compile(r"\s*\**(?:Sent:|Date:|To:|(?:发送时间|日期|时间|收件人)\s*[:：]).*")
_ATTRIBUTION_LINES = 3


def _tail_lines(lines: Lines, tokens: list[Token]) -> frozenset[int]:
    """Return the lines that an e-mail program added: signature, and what is answered to.

    A line that says who wrote what follows counts if a quotation follows, or if it has a date or
    an address; without a quotation everything below it belongs to the older message.
    """
    count = len(lines.starts)
    code = {
        number
        for token in tokens
        if token.type in {"fence", "code_block"} and token.map
        for number in range(*token.map)
    }
    added: set[int] = set()
    for number in range(count):
        if number in code:
            continue
        if _starts_tail(lines, number):
            return frozenset(added | set(range(number, count)))
        length = _attribution(lines, number)
        if not length:
            continue
        below = next((it for it in range(number + length, count) if lines.line(it).strip()), None)
        said = range(number, number + length)
        if below is not None and lines.line(below).lstrip().startswith(">"):
            added.update(said)
        elif _DATED.search(" ".join(lines.line(it) for it in said)):
            return frozenset(added | set(range(number, count)))
    return frozenset(added)


def _starts_tail(lines: Lines, number: int) -> bool:
    """Tell whether a line starts a signature or the headers of an older message."""
    line = lines.line(number)
    if line == _SIGNATURE or _ORIGINAL.fullmatch(line):
        return True
    below = lines.line(number + 1) if number + 1 < len(lines.starts) else ""
    return bool(_SENDER.fullmatch(line) and _HEADER.fullmatch(below))


def _attribution(lines: Lines, number: int) -> int:
    """Return over how many lines a line starts to say who wrote what follows; 0 for none."""
    for length in range(1, _ATTRIBUTION_LINES + 1):
        if number + length > len(lines.starts):
            break
        said = [lines.line(it) for it in range(number, number + length)]
        if not said[-1].strip():
            break
        if _SAID.fullmatch("\n".join(said)):
            return length
    return 0

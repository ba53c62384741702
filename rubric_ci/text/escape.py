"""Escape untrusted text for every output format.

Text of models, of eval files and of a pull request is data. It must not become a workflow
command, a tag, a link, a mention or a table column, and it must not hide its content. Each
function takes raw text and returns text of its format; nothing is escaped twice or elsewhere.
"""

import html as _html
import json as _json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from rubric_ci.errors import UserError

# Members of a character class, from DerivedCoreProperties.txt of Unicode 16.
IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# C0 without tab and newline, DEL, C1, line and paragraph separators, lone surrogates,
# non-characters, and what is invisible or reorders text (https://trojansource.codes).
DIRTY: Final = "-dirty"  # ends a commit, as in `git describe`: tracked files have changes since
_HIDDEN: Final = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff{IGNORABLE}]"
)

_COMMAND: Final = re.compile(r"^([^\S\n]*)::", re.MULTILINE)
_MARKDOWN_SIGNS: Final = re.compile(r"[\\`*_~\[\]|]")
_LINE_START: Final = re.compile(r"^(?:([#+=-])|(\d{1,9})([.)])(?=\s|$))")
_CODE: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)")

# What GitHub turns into links, notifications, cross references and pictures *after* markdown is
# rendered, so that no backslash and no entity prevents it; a zero-width space does.
_AFTER_RENDERING: Final = re.compile(
    r"@(?=[^\s@])|#(?=\d)|(?<![a-z])GH-(?=\d)|:(?=//)|w{3}(?=\.)"
    r"|(?:mailto|xmpp):(?=\S)|:(?=[\w+-]+:)",
    re.IGNORECASE,
)

SHAPED: Final = f"[^\x00-\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff{IGNORABLE}]"

# Text or emoji style; one emoji of several, letters of Persian and of scripts of India.
_JOINER: Final = re.compile(
    f"(?<={SHAPED})[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f]"
    f"|(?<={SHAPED})[\u200c\u200d](?={SHAPED})|(?<=\ufe0f)\u200d(?={SHAPED})"
)

_IGNORABLE: Final = re.compile(f"[{IGNORABLE}]")


def visible(text: str) -> str:
    r"""Show control, reordering and invisible characters as `\x1b`, `\u202e`; newlines are LF."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_code_point, text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Fold every run of white space into one space."""
    return " ".join(visible(text).split())


def markdown(text: str) -> str:
    """Escape text into one line of GitHub's markdown; valid in table cells as well."""
    line = _html.escape(_unlinked(one_line(text)), quote=False)
    signs_escaped = _MARKDOWN_SIGNS.sub(r"\\\g<0>", line)
    return _spelled_out(_LINE_START.sub(_not_a_block, signs_escaped))


def prose(text: str) -> str:
    """Escape text as `markdown` does, but keep `code` between single backticks; not for tables."""
    pieces = _CODE.split(one_line(text))
    shown = [code_span(piece) if at % 2 else _spaced(piece) for at, piece in enumerate(pieces)]
    return "".join(shown)


def prose_in_html(text: str) -> str:
    """Escape text into one line inside an HTML block of GitHub's markdown (`<summary>`)."""
    line = _html.escape(_unlinked(one_line(text)), quote=False)
    return _CODE.sub(r"<code>\1</code>", _spelled_out(line))


def code_span(text: str, *, in_table: bool = False) -> str:
    """Show text literally, in one line of markdown."""
    line = _unbracketed(one_line(text)) or " "
    ticks = "`" * (_longest_run("`", line) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    shown = line.replace("|", r"\|") if in_table else line
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """Show text literally, as a block of markdown."""
    shown = visible(text).strip("\n")
    ticks = "`" * max(3, _longest_run("`", shown) + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def link_target(url: str) -> str:
    """Escape a trusted URL, such as the run's page, for `[text](url)`."""
    return re.sub(r"[^A-Za-z0-9\-._~:/?#@!$&'*+,;=%]", _percent, visible(url))


def path_target(path: str) -> str:
    """Escape a path of the repository for a URL."""
    return re.sub(r"[^A-Za-z0-9\-._~/]", _percent, visible(path))


def html(text: str) -> str:
    """Escape text for HTML, as content and in a quoted attribute."""
    return _html.escape(visible(text), quote=True)


def html_prose(text: str) -> str:
    """Escape text as HTML content, but keep `code` between single backticks."""
    return _CODE.sub(r"<code>\1</code>", html(text))


def xml(text: str) -> str:
    """Escape text for XML 1.0, in a quoted attribute; all characters are legal."""
    return xml_text(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")


def xml_text(text: str) -> str:
    """Escape text for XML 1.0, as content; all characters are legal."""
    return _html.escape(visible(text), quote=False)


def terminal(text: str) -> str:
    """Escape terminal control sequences; newlines are kept."""
    return visible(text).expandtabs(4)


def log_line(text: str) -> str:
    """Escape text into a line of a log, where the GitHub runner looks for commands."""
    return log_text(one_line(text))


def log_text(text: str) -> str:
    """Escape text into lines of a log, where the GitHub runner looks for commands.

    It reads `::command::` at the start of a line, behind blanks as well, and `##[command]`
    anywhere.
    """
    return _unbracketed(_COMMAND.sub(r"\1: :", visible(text)))


def json_text(text: str) -> str:
    """Keep a JSON text from giving orders to a runner or a terminal; its values stay the same."""
    return _HIDDEN.sub(_json_escape, text.replace("##[", r"#\u0023["))


def _unbracketed(text: str) -> str:
    return text.replace("##[", "# #[")


def _unlinked(line: str) -> str:
    """Break the patterns of GitHub's filters; done first, on the same text that GitHub sees."""
    return _AFTER_RENDERING.sub("\\g<0>\u200b", line)


def _spelled_out(line: str) -> str:
    # GitHub's documentation recommends the span, so that `$` does not start math.
    return line.replace("\u200b", "&#8203;").replace("$", "<span>$</span>")


def _spaced(piece: str) -> str:
    """Escape a piece of a line; the blanks at its ends are kept as separators."""
    before = " " if piece[:1] == " " else ""
    after = " " if piece[-1:] == " " and piece.strip() else ""
    return f"{before}{markdown(piece)}{after}"


def _not_a_block(match: re.Match[str]) -> str:
    sign, number, stop = match.groups()
    return f"\\{sign}" if sign else f"{number}\\{stop}"


def _longest_run(sign: str, text: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(sign)}+", text)), default=0)


def _json_escape(match: re.Match[str]) -> str:
    return match[0] if is_joiner(match.string, match.start()) else _json.dumps(match[0])[1:-1]


def _code_point(match: re.Match[str]) -> str:
    if is_joiner(match.string, match.start()):
        return match[0]
    number = ord(match[0])
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _percent(sign: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in sign[0].encode())


def commit(sha: str) -> str:
    """Return the short form of a commit: its first ten characters, and whether it was changed."""
    return sha[:10] + " with local changes" * sha.endswith(DIRTY)


def is_ignorable(character: str) -> bool:
    """Return True for a character without a shape."""
    return bool(_IGNORABLE.match(character))


def without_ignorable(text: str) -> str:
    return _IGNORABLE.sub("", text)


def is_joiner(text: str, at: int) -> bool:
    """Return True for a joiner or a style of a character next to it that has a shape."""
    return bool(_JOINER.match(text, at))


def error_text(error: UserError) -> str:
    """Return the lines that end a command: the message, and below it the hint."""
    hint = f"  {log_line(error.hint)}\n" if error.hint else ""
    return f"{log_line(f'rubric-ci: {error.message}')}\n{hint}"


def error_line(error: UserError) -> str:
    """Return message and hint as one line, for an error that does not end the command."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


T = TypeVar("T")

PER_LEVEL = 10  # GitHub shows this many errors, warnings and notices per step and drops the rest
MESSAGE_LIMIT = 4096  # the runner cuts longer messages


def command(name: str, message: str, properties: Mapping[str, str | int] | None = None) -> str:
    """Return one line, such as `::error file=a.yaml,line=3::message`, without empty properties.

    A message that the runner would cut is cut here, with an ellipsis.
    """
    shown = ",".join(
        f"{key}={command_property(str(value))}"
        for key, value in (properties or {}).items()
        if value != ""
    )
    is_long = len(message) > MESSAGE_LIMIT
    text = message[: MESSAGE_LIMIT - 1] + "…" if is_long else message
    return f"::{name}{' ' if shown else ''}{shown}::{command_data(text)}"


def command_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Escape a property of a workflow command, such as `file` or `title`."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def disable_workflow_commands(text: str, token: str) -> str:
    """Wrap text so that the runner reads no command in it; the token must be random.

    The runner acts on `::name::` at the start and on `##[name]` anywhere in a line of output.
    """
    return f"::stop-commands::{token}\n{text.rstrip(chr(10))}\n::{token}::\n"


def within_cap(entries: Sequence[T], cap: int = PER_LEVEL) -> tuple[Sequence[T], Sequence[T]]:
    """Split the annotations of one level into those shown and the rest.

    If there are too many, the last place stays free for one that counts the rest.
    """
    if len(entries) <= cap:
        return entries, ()
    return entries[: cap - 1], entries[cap - 1 :]

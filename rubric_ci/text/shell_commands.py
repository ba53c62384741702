"""The commands of a shell line, one by one, that a shell would start, as far as text shows them.

The grammar is tree-sitter's for bash. Quotes, comments and here-documents hold no commands; `$(…)`,
backquotes, brackets, `sh -c` and `eval` do, and programs that start the command in their arguments
(`sudo`, `env`, `timeout`, `xargs`). A line that the grammar cannot read may start anything.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from rubric_ci.values.dataclass import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

SHELL: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k|a)?sh(?:\.exe)?")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELL_OPTION: Final = re.compile(r"[-+][a-zA-Z]+|--[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrapper:
    flags: str = ""  # options of one letter
    valued: str = ""  # those with a value
    long: str = ""  # long options
    long_valued: str = ""
    operands: int = 0  # words before the command
    prints: str = ""  # options with which nothing is started

    def takes(self, option: str) -> int | None:
        """Return how many of the following words belong to an option; None: it is not known."""
        if option.startswith("--"):
            name, is_set, _ = option[2:].partition("=")
            if name in self.long_valued.split():
                return 0 if is_set else 1
            return 0 if name in self.long.split() else None
        for place, letter in enumerate(option[1:], start=1):
            if letter in self.valued:
                return int(place == len(option) - 1)
            if letter not in self.flags:
                return None
        return 0


_WORDS_BEFORE: Final = ("!", "{", "do", "then", "else", "elif", "if", "while", "until")
_WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    **dict.fromkeys(_WORDS_BEFORE, _Wrapper()),
    "builtin": _Wrapper(),
    "busybox": _Wrapper(),
    "chroot": _Wrapper(long_valued="userspec groups", operands=1),
    "command": _Wrapper(flags="p", prints="vV"),
    "coproc": _Wrapper(),
    "doas": _Wrapper(flags="Lns", valued="aCu"),
    "env": _Wrapper(
        flags="i0v", valued="uC", long="ignore-environment null debug", long_valued="unset chdir"
    ),
    "exec": _Wrapper(flags="cl", valued="a"),
    "flock": _Wrapper(
        flags="seoxnuF",
        valued="wE",
        long="shared exclusive nonblock nb unlock close no-fork",
        long_valued="timeout wait conflict-exit-code",
        operands=1,
    ),
    "ionice": _Wrapper(flags="t", valued="cn", long="ignore", long_valued="class classdata"),
    "nice": _Wrapper(valued="n", long_valued="adjustment"),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(flags="cfw", long="ctty fork wait"),
    "stdbuf": _Wrapper(valued="ioe", long_valued="input output error"),
    "sudo": _Wrapper(
        flags="AbEHiknPS",
        prints="elvVK",
        valued="CDgphRrtTu",
        long="askpass background preserve-env set-home login non-interactive stdin",
        long_valued="chdir close-from group host prompt chroot role type command-timeout user",
    ),
    "time": _Wrapper(
        flags="pvaq",
        valued="fo",
        long="portability verbose append quiet",
        long_valued="format output",
    ),
    "timeout": _Wrapper(
        flags="vfp",
        valued="ks",
        long="foreground preserve-status verbose",
        long_valued="kill-after signal",
        operands=1,
    ),
    "watch": _Wrapper(
        flags="bcegtwxd",
        valued="nq",
        long="beep color errexit chgexit exec no-title no-wrap differences precise",
        long_valued="interval equexit",
    ),
    "xargs": _Wrapper(
        flags="0optrx",
        valued="adEIiLlnPs",
        long="null open-tty interactive no-run-if-empty verbose exit",
        long_valued="arg-file delimiter eof replace max-lines max-args max-procs max-chars",
    ),
}
# Where the grammar takes one of these for a program it has lost its way.
_NO_PROGRAM: Final = frozenset(("case", "esac", "for", "function", "select", "in"))
_JOINED: Final = frozenset(("eval", "trap"))  # their words are a line of a shell
_FIND: Final = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """The commands and shell lines that a command starts with its arguments."""

    commands: tuple[tuple[str, ...], ...] = ()  # its words without those before the program
    scripts: tuple[str, ...] = ()  # lines of a shell
    possible: tuple[str, ...] = ()  # commands behind an option that is not known
    reads_input: bool = False  # a shell that gets its script as its input
    readable: bool = True


def unwrapped_words(words: Sequence[str]) -> Inner:
    """Return the commands that a command starts: `sudo env A=1 git push` starts `git push`."""
    commands: list[tuple[str, ...]] = []
    while words:
        name = words[0].rpartition("/")[2]
        if name in _NO_PROGRAM:
            return Inner(readable=False)
        if SHELL.fullmatch(name):
            script, reads_input = _shell_script(words)
            return Inner(commands=tuple(commands), scripts=script, reads_input=reads_input)
        if name in _JOINED:
            line = " ".join(words[1:2] if name == "trap" else words[1:]).removeprefix("-- ")
            return Inner(commands=tuple(commands), scripts=(line,))
        if name == "find":
            return Inner(commands=(*commands, *_find_commands(words)))
        wrapper = _WRAPPERS.get(name)
        rest, is_known = _rest(words, wrapper) if wrapper else ([], True)
        if not is_known:
            endings = tuple(" ".join(words[at:]) for at in range(1, len(words)))
            return Inner(commands=tuple(commands), possible=endings)
        commands += [tuple(rest)] if rest else []
        words = ["eval", *rest] if rest and name == "watch" else rest
    return Inner(commands=tuple(commands))


def _rest(words: Sequence[str], wrapper: _Wrapper) -> tuple[list[str], bool]:
    at, operands = 1, wrapper.operands
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            if word[1] in wrapper.prints:
                return [], True
            takes = wrapper.takes(word)
            if takes is None:
                return [], False
            at += 1 + takes
        elif _ASSIGNMENT.fullmatch(word):
            at += 1
        elif operands:
            at, operands = at + 1, operands - 1
        else:
            break
    return list(words[at:]), True


def _shell_script(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the script of a shell's `-c`, and whether it reads one from its input."""
    at = 1
    while at < len(words) and _SHELL_OPTION.fullmatch(words[at]):
        option = words[at]
        if "c" in option and not option.startswith("--"):
            return tuple(words[at + 1 : at + 2]), False
        at += 2 if option in ("-o", "+o", "-O", "+O") or option.endswith("o") else 1
    return (), at >= len(words) or words[at] == "-"


def _find_commands(words: Sequence[str]) -> list[tuple[str, ...]]:
    starts = [at + 1 for at, word in enumerate(words) if word in _FIND]
    every = (words[at : _end(words, at)] for at in starts)
    return [tuple(each) for each in every if each]


def _end(words: Sequence[str], at: int) -> int:
    return next((n for n in range(at, len(words)) if words[n] in (";", "+")), len(words))


Spellings: TypeAlias = tuple[str, ...]
"""One command: as it is written, its words without quotes, and without the words before it."""

_COMMANDS: Final = frozenset(("command", "declaration_command", "unset_command", "test_command"))
_NO_WORDS: Final = frozenset(("variable_assignment", "file_redirect", "herestring_redirect"))
_CARRIERS: Final = frozenset(("list", "pipeline", "negated_command", "redirected_statement"))
_MOST: Final = 200_000  # characters
_MOST_OPERATORS: Final = 2_000  # pipes, here-documents: the parser needs the square of their number
_FIRST_ERROR: Final = 50  # hundreds of steps, after which the parser gives up at an error
_DEEPEST: Final = 10  # shells in shells


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLine:
    commands: tuple[Spellings, ...] = ()
    possible: tuple[str, ...] = ()  # commands behind an option that is not known here
    readable: bool = True  # False: it may start others too


def unwrapped(line: str) -> str:
    """Return the script of `sh -c SCRIPT`, also with a path and other options, or the line."""
    words = line.split(maxsplit=1)
    # shlex takes the square of the length of a word.
    if len(line) > _MOST or not words or not SHELL.fullmatch(words[0]):
        return line
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    for number, word in enumerate(words[1:-1], start=1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word):
            return words[number + 1]
        if not re.fullmatch(r"-\w+|\+\w+|--\w+|pipefail", word):
            return line
    return line


@lru_cache(maxsize=256)
def shell_line(line: str, depth: int = 0) -> ShellLine:
    """Return the commands of a line; `sh -c` is replaced by its commands."""
    root = _tree(line) if depth <= _DEEPEST else None
    if root is None or root.has_error:
        return ShellLine(readable=False)
    return _joined(_started(each, depth) for each in _nodes(root))


def _joined(lines: Iterator[ShellLine]) -> ShellLine:
    every = tuple(lines)
    return ShellLine(
        commands=tuple(command for line in every for command in line.commands),
        possible=tuple(text for line in every for text in line.possible),
        readable=all(line.readable for line in every),
    )


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _tree(line: str) -> "Node | None":
    if len(line) > _MOST or max(line.count("|"), line.count("<<")) > _MOST_OPERATORS:
        return None
    if "\0" in line:  # no shell starts it, and the parser needs the square of their number
        return None
    text, steps = line.encode(errors="replace"), 0

    def gives_up(_: int, has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return has_error and steps > _FIRST_ERROR

    try:
        tree = _parser().parse(lambda at, _: text[at : at + _MOST], progress_callback=gives_up)
    except ValueError:  # it gave up
        return None
    return tree.root_node


def _nodes(root: "Node") -> Iterator["Node"]:
    """Yield a tree's nodes in the order of the text, without recursion: it may be deep."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.children)


def _started(node: "Node", depth: int) -> ShellLine:
    """Return the commands that a node starts, without the commands of the nodes below it."""
    if node.type == "heredoc_body" and not _is_literal(node):
        scripts = re.findall(r"(?<!\\)`((?:[^`\\]|\\.)*)`", _source_text(node), re.DOTALL)
        return _joined(shell_line(each, depth + 1) for each in scripts)
    is_before_program = node.parent is not None and node.parent.type == "command"
    if node.type == "variable_assignment" and not is_before_program:
        return ShellLine(commands=((_source_text(node),),))
    if node.type == "redirected_statement" and node.child_by_field_name("body") is None:
        return ShellLine(commands=((_source_text(node),),))
    if node.type not in _COMMANDS:
        return ShellLine()
    return _command(node, _redirects(node), depth)


def _is_literal(body: "Node") -> bool:
    around = body.parent.children if body.parent else ()
    start = next(each for each in around if each.type == "heredoc_start")
    return any(mark in _source_text(start) for mark in "'\"\\")


def _redirects(command: "Node") -> list["Node"]:
    """Return the redirections after a command; the grammar hangs them on the whole list."""
    node, found = command, list["Node"]()
    while (around := node.parent) and around.type in _CARRIERS:
        if around.type == "redirected_statement":
            found += [each for each in around.children if each.type.endswith("_redirect")]
        elif node != around.children[-1]:
            break
        node = around
    return found


def _command(node: "Node", redirects: list["Node"], depth: int) -> ShellLine:
    own = [each for each in node.children if each.type.endswith("_redirect")]
    tail = [_redirect_text(each) for each in (*own, *redirects) if not _words_after(each)]
    written = " ".join([_source_text(node), *map(_redirect_text, redirects)])
    words = [_plain(each) for each in node.children if each.type not in _NO_WORDS]
    words += [word for each in (*own, *redirects) for word in _words_after(each)]
    inner = unwrapped_words(words)
    stages = (" ".join([*each, *tail]) for each in (words, *inner.commands))
    spellings = tuple(dict.fromkeys((written, *stages)))
    scripts = [*inner.scripts, *_fed(inner.reads_input, (*own, *redirects))]
    started = _joined(shell_line(each, depth + 1) for each in scripts)
    inside = tuple((*each, *spellings) for each in started.commands)
    return ShellLine(
        commands=inside or (spellings,),
        possible=(*inner.possible, *started.possible),
        readable=inner.readable and started.readable,
    )


def _fed(reads_input: bool, redirects: Sequence["Node"]) -> Iterator[str]:
    """Yield the scripts that a shell without a file reads from its here-documents."""
    for each in redirects if reads_input else ():
        for part in each.children:
            if part.type == "heredoc_body":
                yield _source_text(part)
            elif each.type == "herestring_redirect" and part.is_named:
                yield _plain(part)


def _words_after(redirect: "Node") -> list[str]:
    """Return the words of the command that the grammar takes for further names of the file."""
    if redirect.type != "file_redirect":
        return []
    return [_plain(each) for each in redirect.children_by_field_name("destination")[1:]]


def _redirect_text(node: "Node") -> str:
    if node.type != "heredoc_redirect":
        return _source_text(node)
    shown = ("file_descriptor", "<<", "<<-", "heredoc_start")
    head = "".join(_source_text(each) for each in node.children if each.type in shown)
    others = [_source_text(each) for each in node.children if each.type.endswith("_redirect")]
    return " ".join([head, *others])


def _source_text(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")


def _plain(node: "Node") -> str:
    """Return a word as its program gets it; what the shell would put in stays as it is written."""
    match node.type:
        case "raw_string":
            return _source_text(node)[1:-1]
        case "ansi_c_string":
            return re.sub(r"\\(.)", r"\1", _source_text(node)[2:-1])
        case "string":
            return re.sub(r'\\\n|\\(["\\$`])', r"\1", _source_text(node)[1:-1])
        case "concatenation" | "command_name":
            return "".join(map(_plain, node.children))
        case "word":
            return re.sub(r"\\\n|\\(.)", r"\1", _source_text(node))
        case _:
            return _source_text(node)

"""Programs that start the command in their arguments: `sudo`, `env`, `timeout`, `xargs`, `sh`."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rubric_ci.values.dataclass import dataclass

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

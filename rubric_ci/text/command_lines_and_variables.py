"""Command lines, by their placeholders and words, and the variables that a configuration names.

A command line has `{NAME}` and `{name}`, and leaves `${NAME}` to the shell; a configuration has
`${{ NAME }}`.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from rubric_ci.errors import CannotRunScript

_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}|\{([a-z_]+)\}")

MOST_SHELL: Final = 10_000  # characters of a line that is read word by word


def shell_words(line: str, escape: str = "\\") -> list[str]:
    """Return the words and operators of a shell line; none where it cannot be read as one."""
    if len(line) > MOST_SHELL:  # shlex takes the square of the length of a word
        return []
    import shlex  # a configuration is checked without it

    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", escape
    try:
        return list(lexer)
    except ValueError:  # quotes that only a shell understands
        return []


def placeholders(text: str) -> list[str]:
    """Return the names that a text holds, in braces."""
    return [found[1] or found[2] for found in _PLACEHOLDER.finditer(text)]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values, in which nothing is replaced; other names stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1] or found[2], found[0]), text)


# `cmd.exe` replaces `%NAME%` between quotes as well, ends a word at a quote and the command at a
# line break, and has no escape for them that holds in every program. A text with such a character
# is refused there: quoted like an argument of a process, it could start another command.
_UNSAFE: Final = re.compile(r'["%!\r\n\0]')
_NAMES: Final = {"\r": "a line break", "\n": "a line break", "\0": "a null character"}


def shell_quote(text: str, platform: str = sys.platform) -> str:
    """Return the text as one word; raises CannotRunScript for one that cmd.exe cannot be given."""
    if platform != "win32":
        import shlex  # a configuration is checked without it

        return shlex.quote(text)
    if found := _UNSAFE.search(text):
        sign = _NAMES.get(found[0], f"`{found[0]}`")
        raise CannotRunScript(
            f"a command line of cmd.exe cannot hold a text with {sign}; write `{{PROMPT_FILE}}` "
            "where it has `{PROMPT}`, and let the command read the file"
        )
    slashes = text[len(text.rstrip("\\")) :]  # doubled, or the last one would escape the quote
    return f'"{text}{slashes}"'


PROVIDER_VARIABLES: Final = (
    *("ANTHROPIC_*", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION*"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_AD_TOKEN"),
    *("AZURE_AI_*", "AZURE_API_*"),
    *("AZURE_DEPLOYMENT_NAME", "AZURE_OPENAI_*", "CEREBRAS_*", "COHERE_*", "DEEPSEEK_*"),
    *("FIREWORKS_*", "GEMINI_*", "GOOGLE_API_KEY", "GROQ_*", "HF_TOKEN", "HUGGINGFACE_*"),
    *("LITELLM_*", "MISTRAL_*", "NVIDIA_NIM_*", "OLLAMA_*", "OPENAI_*", "OPENROUTER_*"),
    *("PERPLEXITY*_API_KEY", "TOGETHER*_API_KEY", "VERTEX*", "XAI_*"),
)
"""Variables of model providers: allowed without being listed."""

RUNNER_VARIABLES: Final = ("ACTIONS_*", "GITHUB_*", "RUNNER_*")
"""Variables of the runner, with its tokens: never allowed, even if they are listed."""

VARIABLE: Final = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def names(value: Any) -> Iterator[str]:
    """Yield the variables that a value refers to."""
    match value:
        case str():
            yield from VARIABLE.findall(value)
        case list() | tuple():
            for item in value:
                yield from names(item)
        case Mapping():
            for item in value.values():
                yield from names(item)


def is_of_provider(name: str) -> bool:
    return _matches(name, PROVIDER_VARIABLES)


def is_of_runner(name: str) -> bool:
    return _matches(name.upper(), RUNNER_VARIABLES)


@lru_cache(maxsize=256)
def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def why_forbidden(name: str, listed: tuple[str, ...]) -> str:
    """Return the advice for a variable that a configuration may not use; "": it may."""
    if is_of_runner(name):
        return "pass the value in a variable that does not belong to the runner"
    if _matches(name, (*PROVIDER_VARIABLES, *listed)):
        return ""
    return (
        f"add {name} to `env.allow` in rubric-ci.yaml; on a pull request, the list of the "
        "base commit holds"
    )

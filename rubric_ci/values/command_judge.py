"""A judge that is a command: its keys, which `judge` has beside those of a model."""

from typing import Annotated

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.model_facts import CREDENTIALS
from rubric_ci.values.written_keys import ENVIRONMENT, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCommand:
    """A command that judges: a known command-line tool, or any program."""

    model: Annotated[str, Key("openai/gpt-6-luna")] = ""  # empty: the tool decides
    """litellm model name, with the provider as prefix; with `cli`, a model of that tool."""
    cli: Annotated[str, Key("claude-code", title="Command-line tool", enum=tuple(CREDENTIALS))] = ""
    """Command-line tool that judges, with its own login in place of an API key."""
    argv: Annotated[tuple[str, ...], Key(["my-judge", "--json"], name="command", minItems=1)] = ()
    """Command that judges: program and arguments. It gets the prompt on standard input; the last
    JSON object of its output is the reply."""
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    concurrency: Annotated[int, Key(2, minimum=1)] = 4
    """Maximum number of processes of `cli` or `command` at a time."""

"""Entry point of `action.yml`: install rubric-ci from the action's own checkout and run it.

Standard library only, started with `python3 -I`, so that nothing in the repository under test can
be imported. The virtual environment is private and has the packages of one hash-locked list; later
jobs find it in the runner's tool cache under a digest of its content.

Nothing below the workspace is executed: the checkout of a pull request is there. Installers see an
environment of a few listed variables, and `GITHUB_TOKEN` reaches only commands that post.
"""

from __future__ import annotations  # an old interpreter must get as far as the error message

import contextlib
import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # isolated: no folder of the script
from hooks.installation import (
    THIS,
    CannotStart,
    Host,
    cache_folder,
    install,
    interpreter,
    python_of,
)

del sys.path[0]

USAGE, SHORTEST = 2, 6  # exit code of a usage error; characters of a value that is masked
NOT_POSTING = frozenset({"", "off", "false", "0", "no", "n", "f"})
ALL, VARIABLES = "judge", "RUBRIC_CI_ENV"
INPUTS, FOLDER = "RUBRIC_CI_INPUTS", "RUBRIC_CI_WORKING_DIRECTORY"
NAMES = "RUBRIC_CI_INPUT_NAMES"  # of the variables, for messages
EVERYWHERE = {"command", "env", "github-token", "working-directory"}  # inputs of every command
REQUIREMENTS, RESTART = "RUBRIC_CI_REQUIREMENTS", "RUBRIC_CI_RESTART"
EXPORT = "otel"  # the list that is added where results are sent to a tracing tool
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


class Command(NamedTuple):
    """How a command of rubric-ci is started: its list of requirements, and when it posts."""

    requirements: str  # lists, joined by `+`; enough for models of OpenAI, Anthropic and Gemini
    posts_if: tuple[str, ...] = ()  # inputs that make it post, as RUBRIC_CI_ variables
    shared: tuple[str, ...] = ()  # inputs of several commands that it reads, as such variables
    exports: bool = False  # it sends results to the endpoint that a variable names


WITH_REPORT = frozenset({"RUBRIC_CI_RUN", "RUBRIC_CI_REPORT_MERGE"})
POSTS = ("COMMENT", "CHECK_RUN")
COMMANDS = {  # as they are typed on the command line
    "validate": Command("light"),
    "run": Command("github", POSTS, (*POSTS, "COMMENT_KEY", "PAGE", "ALLOWED_HOSTS"), exports=True),
    "generate rubrics": Command("github", ("GENERATE_RUBRICS_PR",), ("ALLOWED_HOSTS",)),
    "compare": Command("github", ("COMPARE_ISSUE",)),
    "judge test": Command("light", (), ("ALLOWED_HOSTS",)),
    "baseline keep": Command("github"),
    "baseline accept": Command("github"),
    "history add": Command("light"),
    "plan": Command("light"),
    "report merge": Command("github", POSTS, (*POSTS, "COMMENT_KEY", "PAGE")),
    "report comment": Command("github", ("COMMAND",), ("COMMENT_KEY", "CHECK_RUN", "PAGE")),
    "authorize": Command("github", ("COMMAND",), ("COMMENT_KEY",)),
}


def main(environ: Mapping[str, str]) -> NoReturn:
    """Install the requirements of the command, then run it in place of this process."""
    try:
        check_inputs(environ)
        names = {v: name for name, every in variables_of_inputs().items() for v in every}
        arguments = prepare(environ)
        environment = environment_of(environ) | {NAMES: json.dumps(names)}
        enter(environ.get(FOLDER, ""))
        become(arguments, environment)
    except (CannotStart, OSError) as error:
        annotate("error", str(error))
        end(" ".join(str(error).split()), environ)


def annotate(level: str, message: str) -> None:
    data = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=rubric-ci::{data}", flush=True)


def end(reason: str, environ: Mapping[str, str]) -> NoReturn:
    """Add the reason to the summary, set the output `failure`, keep it for a post, and end."""
    summary = f"## \u26a0\ufe0f rubric-ci \u00b7 the action could not start\n\n    {reason}\n"
    texts = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": f"failure={reason}\n"}
    for name, text in texts.items():
        file = Path(environ.get(name, ""))
        with contextlib.suppress(OSError), file.open("a", encoding="utf-8") as written:
            written.write(text)
    with contextlib.suppress(OSError):
        keep(reason, environ)
    sys.exit(USAGE)


def keep(reason: str, environ: Mapping[str, str]) -> None:
    """Write the reason in place of a report, which another workflow posts."""
    own = f"RUBRIC_CI_{environ.get('RUBRIC_CI_COMMAND', '').upper().replace(' ', '_')}"
    if own not in WITH_REPORT or not environ.get("GITHUB_ACTIONS"):
        return
    key = environ.get("RUBRIC_CI_COMMENT_KEY", "")
    if not key and (environ.get(f"{own}_CONFIG") or environ.get(f"{own}_PATHS")):
        return  # rubric-ci itself names the suite, and it is not installed
    with contextlib.suppress(CannotStart):
        enter(environ.get(FOLDER, ""))
    folder = Path(environ.get(f"{own}_OUTPUT_DIR") or ".rubric-ci")
    folder.mkdir(exist_ok=True)
    text = json.dumps({"failure": reason, "suite": key})
    with (folder / "failure.json").open("x", encoding="utf-8") as written:  # follows no link
        written.write(f"{text}\n")


def check_inputs(environ: Mapping[str, str], host: Host = THIS) -> None:
    """Warn of inputs that the command does not use; raises CannotStart for an unknown one.

    GitHub passes an unknown input on with a warning, so a misspelt `fail-on` would not hold.
    """
    given = [name for name, value in json.loads(environ.get(INPUTS) or "{}").items() if value]
    variables = variables_of_inputs(host)
    for name in given:
        if name.lower() not in variables:
            near = difflib.get_close_matches(name.lower().replace("_", "-"), variables, 1)
            fix = f"did you mean `{near[0]}`?" if near else "remove it"
            raise CannotStart(f"unknown input `{name}`; {fix}")
    words, command = environ.get("RUBRIC_CI_COMMAND", ""), choose(environ)
    own, shared = (
        re.sub(r"\W", "_", words.upper()),
        {f"RUBRIC_CI_{name}" for name in command.shared},
    )
    unused = [
        f"`{name}`"
        for name in given
        if name.lower() not in EVERYWHERE
        and not any(
            v in shared or v.startswith(f"RUBRIC_CI_{own}_") for v in variables[name.lower()]
        )
    ]
    if unused:
        annotate("warning", f"`{words}` does not use the input {', '.join(unused)}; remove it")


def variables_of_inputs(host: Host = THIS) -> dict[str, list[str]]:
    """Return the variables that each input sets, as `action.yml` has them."""
    text = (host.checkout / "action.yml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for variable, name in re.findall(r"(?m)^ +(\w+): \$\{\{ inputs\.([\w-]+) \}\}$", text):
        found.setdefault(name, []).append(variable)
    return found


def enter(folder: str) -> None:
    """Go to the folder of the input `working-directory`."""
    if folder and not Path(folder).is_dir():
        raise CannotStart(f"working-directory: there is no folder {folder} in the workspace")
    os.chdir(folder or ".")


def prepare(environ: Mapping[str, str]) -> list[str]:
    """Install the requirements of the command and return its command line."""
    if (python := interpreter(environ)) != Path(sys.executable):
        return [str(python), "-I", __file__]
    environment = install(choose(environ).requirements, cache_folder(environ))
    words = environ["RUBRIC_CI_COMMAND"].split()
    return [str(python_of(environment)), "-I", "-X", "utf8", "-m", "rubric_ci", *words]


def environment_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: with the token if it posts, and how to start again."""
    inputs = (environ.get(f"RUBRIC_CI_{name}", "") for name in choose(environ).posts_if)
    posts = any(given.lower() not in NOT_POSTING for given in inputs)
    dropped = {REQUIREMENTS, RESTART, VARIABLES, INPUTS, FOLDER} | (
        set() if posts else {"GITHUB_TOKEN"}
    )
    known = {name: value for name, value in environ.items() if name not in dropped}
    known |= masked(variables(environ.get(VARIABLES, "")))
    again = json.dumps([sys.executable, "-I", __file__])
    return known if environ.get(REQUIREMENTS) == ALL else {**known, RESTART: again}


def variables(text: str) -> dict[str, str]:
    """Return the variables of the input `env` that have a value."""
    lines = [line.strip().partition("=") for line in text.splitlines() if line.strip()]
    if any(not equals or not name.isidentifier() for name, equals, _ in lines):
        raise CannotStart("the input `env` has a line that is not NAME=VALUE; a value is one line")
    return {name: value for name, _, value in lines if value}


def masked(found: dict[str, str]) -> dict[str, str]:
    """Return the variables, with their values masked in the log."""
    for value in (value for value in found.values() if len(value) >= SHORTEST):
        print(f"::add-mask::{value.replace('%', '%25')}", flush=True)
    return found


def choose(environ: Mapping[str, str]) -> Command:
    """Return the command that the input `command` names, with the lists that this run needs.

    With litellm once it asked for that, and with the exporter where an endpoint is set.
    """
    if (name := environ.get("RUBRIC_CI_COMMAND", "")) not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise CannotStart(f"unknown command '{name}': set the input `command` to one of {known}")
    command = COMMANDS[name]
    lists = ALL if environ.get(REQUIREMENTS) == ALL else command.requirements
    given = {**environ, **variables(environ.get(VARIABLES, ""))}
    exports = command.exports and any(given.get(each) for each in ENDPOINTS)
    return command._replace(requirements=f"{lists}+{EXPORT}" if exports else lists)


def become(arguments: list[str], environ: Mapping[str, str]) -> NoReturn:
    """Replace this process by a program, so that signals and exit code are the program's."""
    if os.name == "nt":  # NOTE: exec on Windows starts a second process and returns at once
        sys.exit(subprocess.run(arguments, env=environ, check=False).returncode)
    os.execve(arguments[0], arguments, environ)  # noqa: S606 - there is no shell on purpose


if __name__ == "__main__":
    main(os.environ)

"""The folder of AgentV's agents as a workspace: `environment` of 5, `workspace` of 2 to 4.

AgentV prepares a folder for several answers; here it is prepared for each answer.
"""

import re
from posixpath import dirname, isabs, join, normpath
from typing import Any, Final

from rubric_ci.files.yaml_text.case_files import written_in
from rubric_ci.parts.bring.translation import Translation, placed
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

RULES: Final = "agentv:agent-rules"
_FRESH: Final = "each answer has a fresh copy of the folder"
_SECONDS: Final = {"before_all": 60, "before_each": 60, "after_each": 30}
_MOMENTS_OF_HOOKS: Final = (*_SECONDS, "after_all")
_OF_HOOK: Final = ("command", "script", "cwd", "timeout_ms", "reset")
_ON_INPUT: Final = "has no counterpart in a command, which reads it on standard input"
_PLACEHOLDERS: Final = {"workspace_path": "{WORKSPACE}", "test_id": "{EVAL_ID}"}
_PLACEHOLDER: Final = re.compile(r"\{\{(\w++)\}\}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SHORT: Final = re.compile(r"[0-9a-f]{7,39}")
_AT_GITHUB: Final = re.compile(r"[\w.-]+/[\w.-]+")
_BY_SSH: Final = re.compile(r"git@([^:/]+):(.+)")
_URL: Final = re.compile(r"(?:https?|ssh|git)://.+")


def add_environment(found: Translation, data: dict[str, Any]) -> None:
    """Add the folder of a suite of version 5."""
    recipe, place = data.get("environment"), ("environment",)
    if recipe is None:
        return
    if not isinstance(recipe, dict) or not isinstance(recipe.get("workdir"), str):
        found.refuse(place, "`environment` has no counterpart unless it has a `workdir`")
        return
    if recipe.get("type") != "host":
        message = "only `type: host` has a counterpart; `sandbox` of a target can start a container"
        found.refuse((*place, "type"), message)
        return
    found.refuse_keys(recipe, ("type", "workdir", "setup"), place)
    folder = dirname(written_in(data, "environment"))
    found.put(("workspace",), {}, place)
    copied = normpath(join(folder, recipe["workdir"]))
    found.put(("workspace", "copy"), copied, (*place, "workdir"))
    _set_up(found, recipe.get("setup"), (*place, "setup"))


def _set_up(found: Translation, setup: Any, place: Path) -> None:
    if setup is None:
        return
    if not isinstance(setup, dict) or not isinstance(command := setup.get("command"), list):
        found.refuse(place, "`setup` has no counterpart unless it has a `command`")
        return
    found.refuse_keys(setup, ("command", "cwd", "timeout_ms"), place)
    found.put(("workspace", "setup"), command, (*place, "command"))
    if "timeout_ms" in setup:
        found.skip((*place, "timeout_ms"), "a set-up may take 15 minutes")
    named = [word for word in command if str(word).startswith(("./", "../"))]
    if setup.get("cwd") != "." and (named or "cwd" in setup):
        message = "a set-up that does not run in the workspace (`cwd: .`) has no counterpart"
        found.refuse(place, message)


def add_workspace(found: Translation, data: dict[str, Any]) -> None:
    """Add the folder of a suite of versions 2.7 to 4: its template, clones and hooks."""
    written, place = data.get("workspace"), ("workspace",)
    if written is None:
        return
    if not isinstance(written, dict) or "environment" in data:
        found.refuse(place, "`workspace` has no counterpart unless it is a mapping")
        return
    known = ("template", "mode", "isolation", "hooks", "repos", "env")
    found.refuse_keys(written, known, place)
    if "env" in written:
        found.skip((*place, "env"), "a program that the machine lacks fails where it is used")
    if written.get("mode") == "static":
        found.refuse((*place, "mode"), "each answer has a copy of one folder")
    if not {"template", "repos", "hooks"} & written.keys():
        return
    folder = dirname(written_in(data, "workspace"))
    found.put(place, {}, place)
    template = written.get("template")
    if isinstance(template, str):
        found.put((*place, "copy"), normpath(join(folder, template)), (*place, "template"))
    elif template is not None:
        found.refuse((*place, "template"), "`template` is the path of a folder")
    _repos(found, written.get("repos"), (*place, "repos"))
    _hooks(found, written, folder, (*place, "hooks"))


def _is_positive(value: Any) -> bool:
    return is_number(value) and value > 0


def _repos(found: Translation, repos: Any, place: Path) -> None:
    if not repos:
        return
    if not isinstance(repos, list) or not all(isinstance(each, dict) for each in repos):
        found.refuse(place, "`repos` is a list of mappings")
        return
    made = [(_repo(found, repo, (*place, at)), (*place, at)) for at, repo in enumerate(repos)]
    found.put_list(("workspace", "repos"), [each for each in made if each[0]], place)


def _repo(found: Translation, repo: dict[str, Any], place: Path) -> dict[str, str] | None:
    """Return a clone; versions before 4.42 have its parts below `source` and `checkout`."""
    known = ("path", "repo", "commit", "base_commit", "source", "checkout", "clone")
    found.refuse_keys(repo, known, place)
    source, checkout = (repo.get(key) or {} for key in ("source", "checkout"))
    clone = repo.get("clone")
    if isinstance(clone, dict):
        found.refuse_keys(clone, ("depth", "filter"), (*place, "clone"))
    if not isinstance(source, dict) or not isinstance(checkout, dict):
        found.refuse(place, "`source` and `checkout` are mappings")
        return None
    found.refuse_keys(source, ("type", "url"), (*place, "source"))
    found.refuse_keys(checkout, ("ref", "resolve"), (*place, "checkout"))
    url, into = _url(repo.get("repo", source.get("url"))), repo.get("path")
    if not url or not isinstance(into, str):
        found.refuse(place, "a clone needs a `path`, and the URL of a repository at a server")
        return None
    if isabs(into) or normpath(into).startswith(".."):
        found.refuse((*place, "path"), f"`{into}` leads out of the workspace")
        return None
    named = repo.get("commit", repo.get("base_commit", checkout.get("ref", "HEAD")))
    if not isinstance(named, str) or _SHORT.fullmatch(named):
        found.refuse(place, f"`{named}` is neither a whole id of a commit, nor a branch or a tag")
        return None
    return {"into": into, "url": url, "commit" if _COMMIT.fullmatch(named) else "ref": named}


def _url(written: Any) -> str:
    """Return the URL of a repository; "" for a path on a machine."""
    if not isinstance(written, str):
        return ""
    if _AT_GITHUB.fullmatch(written):
        return f"https://github.com/{written}.git"
    if by_ssh := _BY_SSH.fullmatch(written):
        return f"ssh://git@{by_ssh[1]}/{by_ssh[2]}"
    return written if _URL.fullmatch(written) else ""


def _hooks(found: Translation, workspace: dict[str, Any], folder: str, place: Path) -> None:
    """Add the commands; suite commands run for each test if each test has its own workspace."""
    hooks = workspace.get("hooks")
    if hooks is None or (isinstance(hooks, dict) and hooks.get("enabled") is False):
        return
    if not isinstance(hooks, dict):
        found.skip(place, "AgentV ignores `hooks` that are not a mapping")
        return
    found.refuse_keys(hooks, ("enabled", *_MOMENTS_OF_HOOKS), place)
    commands = {}
    for name in (name for name in hooks if name in _MOMENTS_OF_HOOKS):
        hook = hooks[name] if isinstance(hooks[name], dict) else {}
        if hook.get("reset", "none") != "none":
            found.skip((*place, name), _FRESH)
        if hook.keys() & {"command", "script"}:
            commands[name] = hook
        elif "reset" not in hook:
            found.refuse_keys(hook, _OF_HOOK, (*place, name))
            found.skip((*place, name), "AgentV ignores a hook without a `command`")
    of_each = workspace.get("isolation") == "per_test"
    if of_each and commands.keys() >= {"before_all", "before_each"}:
        message = "with `isolation: per_test`, `before_all` and `before_each` cannot be combined"
        found.refuse((*place, "before_all"), message)
    if commands:
        found.put(("workspace", "hooks"), {}, place)
    for name, hook in commands.items():
        ours = "before_each" if of_each and name == "before_all" else name
        _hook(found, ours, hook, folder, (*place, name))


def _hook(found: Translation, name: str, hook: dict[str, Any], folder: str, place: Path) -> None:
    if name not in _SECONDS:
        found.refuse(place, f"the command of `{name}` has no counterpart")
        return
    found.refuse_keys(hook, _OF_HOOK, place)
    key = "command" if "command" in hook else "script"
    words = hook[key].split() if isinstance(hook[key], str) else hook[key]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        found.refuse((*place, key), "a command is a text, or a list of texts")
        return
    milliseconds = hook.get("timeout_ms", _SECONDS[name] * 1000)
    if not _is_positive(milliseconds):
        found.refuse((*place, "timeout_ms"), "`timeout_ms` is a number above 0")
        return
    made: dict[str, Any] = {
        "command": [_filled(found, word, (*place, key)) for word in words],
        "timeout_seconds": milliseconds / 1000,
    }
    start = hook.get("cwd", "")
    if isinstance(start, str) and isabs(start):
        found.refuse((*place, "cwd"), "a folder of one machine has no counterpart")
    if at := join(folder, start) if isinstance(start, str) else start:
        made["cwd"] = normpath(at) if isinstance(at, str) else at
    found.put(("workspace", "hooks", name), made, place)
    for ours, theirs in (("command", key), ("timeout_seconds", "timeout_ms"), ("cwd", "cwd")):
        if theirs in hook:
            found.paths["workspace", "hooks", name, ours] = (*place, theirs)


def add_extensions(found: Translation, extensions: Any) -> None:
    """Report functions around the work; rules of agents need none."""
    for each, place in placed(extensions, ("extensions",), alone=extensions is not None):
        if each == RULES:
            message = "an agent finds rules and skills in the workspace itself (`project_files`)"
            found.skip(place, message)
        else:
            found.refuse(place, "functions around the work have no counterpart; write `hooks`")


def _filled(found: Translation, word: str, place: Path) -> str:
    def known(match: re.Match[str]) -> str:
        if match[1] in ("case_input", "case_metadata", "eval_run_id"):
            found.refuse(place, f"`{{{{{match[1]}}}}}` {_ON_INPUT}")
        return _PLACEHOLDERS.get(match[1], match[0])

    return _PLACEHOLDER.sub(known, word)

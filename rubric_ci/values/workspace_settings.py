"""The folder that a target or a case works in, what prepares it, and the texts given with it."""

from posixpath import normpath
from typing import Annotated, Any, Final, Literal

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.written_keys import TEXT, Key, from_root

_SANDBOX: Final[dict[str, Any]] = {
    "type": ["array", "object"],
    "if": {"type": "array"},
    "then": {"items": TEXT, "minItems": 1},
    "else": {"$ref": "#/$defs/container"},
}


def _image(written: Any, _: str) -> str:
    return str(written["container"]) if isinstance(written, dict) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource:
    """A commit of another git repository, and where it is in a workspace."""

    into: Annotated[str, Key("shop", to=lambda path, _: normpath(path))] = ""
    """Folder of the repository, relative to the workspace."""
    url: Annotated[
        str, Key("https://github.com/octocat/Hello-World", pattern="^(https?|ssh|git)://")
    ] = ""
    """URL that git can fetch from."""
    path: Annotated[str, Key("fixtures/shop.bundle", to=from_root)] = ""
    """Repository, mirror or bundle on this machine, relative to this file's folder."""
    commit: Annotated[
        str,
        Key("7fd1a60b01f91b314f59955a4e4d4e80d8edf11d", pattern="^([0-9a-f]{40}|[0-9a-f]{64})$"),
    ] = ""
    """Whole id of the commit."""
    ref: Annotated[str, Key("main")] = ""
    """Branch or tag, in place of `commit`. It may move: answers are not kept in the cache, and a
    move selects no case."""
    history: Annotated[bool, Key(False)] = True
    """Whether the commits before it are there. Without them the folder is a repository of one
    commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A command around the work in a workspace, which starts outside of it."""

    command: Annotated[
        tuple[str, ...], Key(["bash", "scripts/reset.sh", "{WORKSPACE}"], minItems=1)
    ]
    """Words of the command. `{WORKSPACE}` is the folder, `{EVAL_ID}` the id of the case."""
    cwd: Annotated[str, Key("..", title="Working directory", to=from_root)] = "."
    """Folder in which the command starts, relative to this file's folder."""
    timeout_seconds: Annotated[float, Key(900, exclusiveMinimum=0)] = 60.0
    """Timeout in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    before_all: Annotated[
        Hook | None, Key({"command": ["node", "scripts/prepare.mjs", "{WORKSPACE}"]})
    ] = None
    """Runs once, after `setup`. If it fails, no case gets an answer."""
    before_each: Annotated[
        Hook | None, Key({"command": ["bash", "scripts/reset.sh", "{WORKSPACE}", "{EVAL_ID}"]})
    ] = None
    """Runs before each answer. If it fails, the case gets none. Its changes do not count as the
    target's."""
    after_each: Annotated[
        Hook | None, Key({"command": ["bash", "scripts/stop.sh"], "timeout_seconds": 30})
    ] = None
    """Runs after each answer, before scripts and assertions look at the folder. If it fails, the
    report has a note."""

    @property
    def every(self) -> tuple[Hook, ...]:
        """Those that there are."""
        return tuple(filter(None, (self.before_all, self.before_each, self.after_each)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folder that a target works in, fresh for each trial."""

    copy: Annotated[str, Key("fixtures/shop", to=from_root)] = ""
    """Folder whose files are copied, relative to this file's folder; files that git ignores are
    left out. Without it, the folder is empty."""
    git: Annotated[
        GitSource | None,
        Key({"path": "fixtures/shop.bundle", "commit": "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"}),
    ] = None
    """Commit of another git repository, in place of `copy`. The folder is a repository on the
    branch `main`; later commits are not in it."""
    repos: Annotated[
        tuple[GitSource, ...],
        Key(
            [{"into": "shop", "url": "https://github.com/octocat/Hello-World", "ref": "master"}],
            title="Repositories",
            items={"$ref": "#/$defs/repository"},
            maxItems=100,
        ),
    ] = ()
    """Commits of git repositories, each in a folder of the workspace."""
    setup: Annotated[str | tuple[str, ...], Key("npm ci", title="Set-up", **TEXT)] = ""
    """Shell command that prepares the folder, once per run. It runs before the sandbox."""
    hooks: Annotated[
        Hooks, Key({"before_each": {"command": ["bash", "scripts/reset.sh", "{WORKSPACE}"]}})
    ] = Hooks()
    """Commands around the work in the folder, which start in the folder of this file. They read
    JSON with `workspace_path`, `test_id`, `case_input` and `case_metadata`."""
    keep: Annotated[tuple[str, ...], Key(["diff", "out/**"], uniqueItems=True)] = ("diff",)
    """Parts of the folder that are kept at the end: `diff` for the changes, globs for the text of
    files."""
    of_target: bool = True  # not of a case, whose `setup` gets no variables of the target
    sandbox: Annotated[
        tuple[str, ...],
        Key(
            {"container": "ghcr.io/example/agent:1"},
            [
                *("bwrap", "--ro-bind", "/", "/", "--bind", "{WORKSPACE}", "{WORKSPACE}"),
                *("--unshare-pid", "--die-with-parent"),
            ],
            to=lambda written, _: () if isinstance(written, dict) else tuple(written),
            **_SANDBOX,
        ),
    ] = ()
    """Command line that confines the target; the target's own follows it. `{WORKSPACE}` and
    `{HOME}` are the folders that it may write. Or the image of a container:
    `{container: IMAGE}`."""
    container: Annotated[str, Key(name="sandbox", to=_image)] = ""  # in place of a command line

    @property
    def sources(self) -> tuple[GitSource, ...]:
        return (*filter(None, (self.git,)), *self.repos)

    @property
    def varies(self) -> bool:
        """Whether the same settings may give another folder at another time."""
        return bool(self.hooks.every) or any(source.ref for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """The messages that a model target gets before a case's messages, or instead of them."""

    path: str  # of the prompt file, relative to the repository root
    messages: tuple[tuple[Literal["system", "user", "assistant"], str], ...]  # role and template
    takes_input: bool  # `{{ input }}` stands for the messages of the case, which are not sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """An Agent Skill that a target is given: a folder with `SKILL.md`."""

    path: str  # relative to the repository root
    text: str  # of `SKILL.md`

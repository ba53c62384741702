"""The folder that AgentV's agents work in: template, clones, commands, and files that have them."""

import pytest
import yaml

from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.parts.bring.dialects.agentv import translate
from rubric_ci.values.references import Found, NotFound
from tests.parts.bring.dialects.reported import reported
from tests.tables import rows

TEST = {"id": "a", "input": "Hi", "assertions": ["Greets"]}


READ = """
# a folder
{template: ./shop, mode: pooled}
=> {copy: shop}
# nothing
{isolation: per_test}
=> null
# commands that are off
{template: ./shop, hooks: {enabled: false, before_all: {command: [node, x.mjs]}}}
=> {copy: shop}
# commands
{hooks: {before_all: {command: [node, '{{workspace_path}}/x.mjs', '{{other}}']}, before_each:
    {script: 'bash ../y.sh {{test_id}}', timeout_ms: 900000, cwd: .}, after_each: {command: [z],
    cwd: ../tools}}}
=> {hooks: {before_all: {command: [node, '{WORKSPACE}/x.mjs', '{{other}}'], timeout_seconds: 60},
   before_each: {command: [bash, ../y.sh, '{EVAL_ID}'], timeout_seconds: 900, cwd: .}, after_each:
   {command: [z], timeout_seconds: 30, cwd: ../tools}}}
# a command for the folder of a test
{isolation: per_test, hooks: {before_all: {command: [node, x.mjs]}}}
=> {hooks: {before_each: {command: [node, x.mjs], timeout_seconds: 60}}}
# clones
{template: ../shop, repos: [{path: ./a, repo: octocat/Hello-World, commit: master}, {path: b, repo:
    'https://a.example/b.git', base_commit: 7fd1a60b01f91b314f59955a4e4d4e80d8edf11d}, {path: c,
    repo: 'git@a.example:x/c'}]}
=> {copy: ../shop, repos: [{into: ./a, url: 'https://github.com/octocat/Hello-World.git', ref:
   master}, {into: b, url: 'https://a.example/b.git', commit:
   7fd1a60b01f91b314f59955a4e4d4e80d8edf11d}, {into: c, url: 'ssh://git@a.example/x/c', ref: HEAD}]}
# a clone of an older version
{repos: [{path: ./a, source: {type: git, url: 'https://a.example/a.git'}, checkout: {ref:
    7fd1a60b01f91b314f59955a4e4d4e80d8edf11d, resolve: local}, clone: {depth: 1}}]}
=> {repos: [{into: ./a, url: 'https://a.example/a.git', commit:
   7fd1a60b01f91b314f59955a4e4d4e80d8edf11d}]}
"""


@pytest.mark.parametrize(("workspace", "ours"), rows(READ))
def test_a_workspace(workspace: str, ours: list[str]) -> None:
    found = translate({"tests": [TEST], "workspace": yaml.safe_load(workspace)})
    assert (found.data.get("workspace"), reported(found)) == (yaml.safe_load(ours[0]), [])


PROBLEMS = """
# a reset
{hooks: {after_each: {reset: fast}, before_each: {reset: none}}}
=> skipped-there workspace.hooks.after_each: each answer has a fresh copy of the folder
# programs that must be there
{template: a, env: {required_commands: [git]}}
=> skipped-there workspace.env: a program that the machine lacks fails where it is used
# a folder of the user
{mode: static, path: /srv/x}
=> not-supported workspace.path: `path` has no counterpart
=> not-supported workspace.mode: each answer has a copy of one folder
# a container
{docker: {image: x}}
=> not-supported workspace.docker: `docker` has no counterpart
# a command at the end of all
{hooks: {after_all: {command: [node, x.mjs]}}}
=> not-supported workspace.hooks.after_all: the command of `after_all` has no counterpart
# two commands before a test with its folder
{isolation: per_test, hooks: {before_all: {command: [node, x.mjs]}, before_each: {command: [node,
    x.mjs]}}}
=> not-supported workspace.hooks.before_all: with `isolation: per_test`, `before_all` and
   `before_each` cannot be combined
# the input in a command
{hooks: {before_each: {command: [x, '{{case_input}}']}}}
=> not-supported workspace.hooks.before_each.command: `{{case_input}}` has no counterpart in a
   command, which reads it on standard input
# a folder of a machine
{hooks: {before_all: {command: [x], cwd: /srv}}}
=> not-supported workspace.hooks.before_all.cwd: a folder of one machine has no counterpart
# a command of numbers
{hooks: {before_all: {command: [1]}}}
=> not-supported workspace.hooks.before_all.command: a command is a text, or a list of texts
# an unknown key of a command
{hooks: {before_all: {command: [x], shell: true}}}
=> not-supported workspace.hooks.before_all.shell: `shell` has no counterpart
# hooks that are no mapping
{hooks: [bash setup.sh]}
=> skipped-there workspace.hooks: AgentV ignores `hooks` that are not a mapping
# a hook that is a text
{hooks: {before_all: bash setup.sh}}
=> skipped-there workspace.hooks.before_all: AgentV ignores a hook without a `command`
# a misspelt command
{hooks: {before_each: {comand: [x]}}}
=> not-supported workspace.hooks.before_each.comand: `comand` has no counterpart, `command` has one
=> skipped-there workspace.hooks.before_each: AgentV ignores a hook without a `command`
# a misspelt hook
{hooks: {after_eahc: {reset: fast}}}
=> not-supported workspace.hooks.after_eahc: `after_eahc` has no counterpart, `after_each` has one
# no time for a command
{hooks: {before_each: {command: [x], timeout_ms: -5}}}
=> not-supported workspace.hooks.before_each.timeout_ms: `timeout_ms` is a number above 0
# a short id
{repos: [{path: a, repo: x/a, commit: 7fd1a60}]}
=> not-supported workspace.repos.0: `7fd1a60` is neither a whole id of a commit, nor a branch or a
   tag
# an ancestor
{repos: [{path: a, repo: x/a, ancestor: 1}]}
=> not-supported workspace.repos.0.ancestor: `ancestor` has no counterpart
# a folder outside
{repos: [{path: ../a, repo: x/a}]}
=> not-supported workspace.repos.0.path: `../a` leads out of the workspace
# a repository on this machine
{repos: [{path: a, repo: 'file:///srv/a'}]}
=> not-supported workspace.repos.0: a clone needs a `path`, and the URL of a repository at a server
# no list
{repos: 3}
=> not-supported workspace.repos: `repos` is a list of mappings
# a text
a.yaml
=> not-supported workspace: `workspace` has no counterpart unless it is a mapping
"""


@pytest.mark.parametrize(("workspace", "problems"), rows(PROBLEMS))
def test_what_is_reported_about_a_workspace(workspace: str, problems: list[str]) -> None:
    found = translate({"tests": [TEST], "workspace": yaml.safe_load(workspace)})
    assert reported(found) == problems


IN_FILE = """\
template: ./template
hooks:
  before_all: {command: [node, prepare.mjs]}
  before_each: {command: [node, reset.mjs], cwd: tools, x: 1}
"""


def test_a_workspace_in_a_file_counts_from_its_folder() -> None:
    text = "workspace: ../shop/workspace.yaml\ntests: [{id: a, input: Hi, assertions: [Greets]}]\n"
    files = {"../shop/workspace.yaml": Found("shop/workspace.yaml", IN_FILE)}
    source = open_source(
        "evals/a.yaml", text, find=lambda name: [files.get(name, NotFound("no such file"))]
    )
    ours = """
    copy: ../shop/template
    hooks:
      before_all: {command: [node, prepare.mjs], timeout_seconds: 60, cwd: ../shop}
      before_each: {command: [node, reset.mjs], timeout_seconds: 60, cwd: ../shop/tools}
    """
    assert source.data["workspace"] == yaml.safe_load(ours)
    assert [(file, each.line, each.message) for file, each in source.text_problems] == [
        ("shop/workspace.yaml", 4, "`x` has no counterpart")
    ]
    place = source.location(("workspace", "hooks", "before_all", "command", 1))
    assert (place.file, place.place[0]) == ("shop/workspace.yaml", 3)

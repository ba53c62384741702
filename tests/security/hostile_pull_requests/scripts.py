"""Attacks on what a script reads: by a name that is hard to read, and without being given one."""

import json

from tests.security.hostile_pull_requests.attack import CONFIG, Attack, answers
from tests.security.hostile_pull_requests.generator import Files

STRICT = CONFIG.replace(
    "fail_on: fail, on_weaker_grading: fail", "fail_on: fail, on_changed_grading: fail"
)
ONLY: Files = {"evals/a.eval.yaml": None, "evals/b.eval.yaml": None}
ANSWERS = {"answers.jsonl": answers(one="go away")}
BAD, GOOD = "exit 1\n", "exit 0\n"


def script(
    command: str | list[str],
    edited: str,
    files: dict[str, str] | None = None,
    more: str = "",
    before: str = BAD,
) -> Attack:
    """Return the attack of an edited file that a script, which marks the answer, reads."""
    judge = f"{{name: s, type: code_judge, score_from: exit_status, script: {json.dumps(command)}"
    suite = (
        "evalcases:\n  - id: one\n    input: Say hello\n    execution:\n      evaluators:\n"
        f"        - {judge}{more}}}\n"
    )
    return Attack(
        base={
            **ONLY,
            **ANSWERS,
            "rubric-ci.yaml": STRICT,
            "evals/c.eval.yaml": suite,
            **({edited: before} if before else {}),
            **(files or {}),
        },
        head={**ANSWERS, edited: GOOD},
        said=("changed", edited.rpartition("/")[2], "What the scripts of s read is known by"),
    )


def work(setup: str, edited: str) -> Attack:
    """Return the attack of an edited file that prepares the workspace of a case."""
    suite = (
        "evalcases:\n  - id: one\n    input: Say hello\n    target: tool\n"
        f"    workspace: {{copy: app, {setup}}}\n    rubrics: [{{contains: hello}}]\n"
    )
    target = "targets:\n  - {name: tool, provider: cli, command_template: echo, depends_on: [x]}\n"
    return Attack(
        base={
            **ONLY,
            "rubric-ci.yaml": STRICT.replace("targets:\n", target),
            "evals/c.eval.yaml": suite,
            "evals/app/x": "x\n",
            edited: BAD,
        },
        head={edited: GOOD},
        said=("changed", edited.rpartition("/")[2]),
        code=1,
    )


NAMED = {
    "a space": "my check.sh",
    "plus and at": "a+b@c.sh",
    "a tilde and a comma": "a~b,c.sh",
    "brackets": "[id]/c.sh",
    "a folder with a space": "my checks/c.sh",
    "a folder of a scope": "@scope/c.sh",
}
IMPORTS = {"evals/c.py": "import yaml\n"}

ATTACKS = {
    **{
        f"a name with {word}": script(["sh", name], f"evals/{name}") for word, name in NAMED.items()
    },
    "a quoted name with a space": script("sh 'my check.sh'", "evals/my check.sh"),
    "a name in parts": script("sh 'c''heck.sh'", "evals/check.sh"),
    "an escaped space": script("sh my\\ check.sh", "evals/my check.sh"),
    "a glob": script("sh ch*.sh", "evals/check.sh"),
    "a setting": script("sh check.sh --rules='my rules.json'", "evals/my rules.json"),
    "a shell in a shell": script("sh -c \"sh 'my check.sh'\"", "evals/my check.sh"),
    "a data file with a space": script(
        "sh ../tools/c.sh", "tools/gold data.json", {"tools/c.sh": "cat 'gold data.json'; exit 1\n"}
    ),
    "an added module": script("python3 c.py", "evals/datetime.py", IMPORTS, before=""),
    "the tests of unittest": script(
        "python3 -m unittest -q", "evals/chk/test_a.py", more=", cwd: chk"
    ),
    "the tests of node": script("node --test", "evals/chk/a.test.mjs", more=", cwd: chk"),
    "the imports of a package": script(
        "node check.mjs", "evals/package.json", {"evals/check.mjs": "import s from '#lib'\n"}
    ),
    "the package above a script": script(
        "node check.mjs", "package.json", {"evals/check.mjs": "import s from '#lib'\n"}
    ),
    "an installed module": script(
        "node c.cjs", "evals/node_modules/marker/index.js", {"evals/c.cjs": "require('marker')\n"}
    ),
    "a module next to a script in the root": script(
        "python3 ../c.py", "datetime.py", {"c.py": "import yaml\n"}, before=""
    ),
    "an installed module of a script in the root": script(
        "node ../c.cjs", "node_modules/marker/index.js", {"c.cjs": "require('marker')\n"}
    ),
    "a module of jq": script("jq -f c.jq", "evals/lib.jq", {"evals/c.jq": 'import "lib" as l;\n'}),
    "a file that awk reads": script("awk -f c.awk", "evals/mark.txt", {"evals/c.awk": "getline\n"}),
    "a module of Perl": script("perl -I. c.pl", "evals/Lib.pm", {"evals/c.pl": "use Lib;\n"}),
    "a module behind a link": script(
        "python3 c.py",
        "tools/lib.py",
        {"evals/c.py": "-> ../tools/real.py", "tools/real.py": "import lib\n"},
    ),
    "a module that is searched": script(
        "python3 c.py", "evals/checks/zz.py", {"evals/c.py": "import pkgutil\n"}
    ),
    "the setup of a workspace": work(
        'setup: [sh, "../tools/my prep.sh"]', "evals/tools/my prep.sh"
    ),
    "a hook of a workspace": work(
        'hooks: {before_each: {command: [sh, "my hook.sh"]}}', "evals/my hook.sh"
    ),
    "globs in place of the folder": script(
        "python3 c.py", "data/gold.json", {"evals/c.py": "x\n"}, more=', depends_on: ["data/**"]'
    ),
}

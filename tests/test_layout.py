"""The layout: module and function lengths, tests per module, effects, the environment."""

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import grimp
import pytest

from tests.house import modules_that_ask_which_target

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Read: TypeAlias = Mapping[Path, tuple[list[str], list[str]]]

TESTS: Final = Path(__file__).parent
PACKAGE: Final = TESTS.parent / "rubric_ci"
ROOMS: Final = sorted(
    path.parent for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "parts"
)
HOOKS: Final = TESTS.parent / "hooks"
MODULE_LINES: Final = 400
FUNCTION_LINES: Final = 50  # from `def` to the last line
SAME_NAMES: Final = {  # file names that stand in several packages with one meaning
    "agentv",  # a tool: what its files are told by, and how they are read
    "rubric",  # the values, and the evaluator
    "media",  # of values, of requests
}
THROUGH: Final = {  # modules that are tested through what uses them, by the file of those tests
    "test_startup.py": "__main__",
    "cli/commands/test_report_comment.py": "services/publish_comment",
    "cli/commands/test_images.py": "files/validation/media_rules models/judge/request",
    "parts/pytest/test_sessions.py": """
        parts/pytest/__init__ parts/pytest/plugin parts/pytest/session_run parts/pytest/hooks
        parts/pytest/items""",
    "cli/commands/test_run_untrusted.py": "gate/selection/proposed_cases",
    "cli/commands/test_run_workspace.py": "parts/agents/workspace_programs",
    "parts/authorize/test_authorize.py": "parts/authorize/authorization",
    "parts/bring/test_adopted_tools.py": """
        parts/bring/graded_files parts/bring/tool_results parts/bring/adopted_report""",
    "parts/agents/test_agents.py": """
        models/agents/program models/agents/atif parts/agents/__init__
        parts/agents/claude_code
        parts/agents/codex parts/agents/copilot parts/agents/gemini_cli
        models/agents/otlp""",
    "parts/bring/test_import.py": """
        parts/bring/import_files parts/bring/dialects/promptfoo_assert
        parts/bring/dialects/golden_sets_and_tables
        parts/bring/dialects/promptfoo_code parts/bring/dialects/promptfoo_tests
        parts/bring/dialects/promptfoo_assertion_types parts/bring/dialects/promptfoo_prompts
        parts/bring/dialects/promptfoo_targets
        parts/bring/dialects/github_models parts/bring/dialects/openai_evals
        parts/bring/dialects/shims/promptfoo_shim""",
    "parts/bring/test_import_traces.py": """
        parts/bring/import_traces parts/bring/trace_formats parts/bring/spans_and_otlp
        parts/bring/trace_file""",
    "parts/bring/dialects/test_table.py": """
        parts/bring/dialects/agent_skills parts/bring/dialects/agentv""",
    "parts/bring/dialects/test_agentv_graders.py": """
        parts/bring/dialects/agentv_evaluators
        parts/bring/dialects/agentv_rubrics""",
    "parts/telemetry/test_run_exported.py": "parts/telemetry/export parts/telemetry/__init__",
    "parts/bring/test_run_tool.py": "parts/bring/eval_tool",
    "cli/commands/test_run_skills.py": "grading/targets/workplace",
    "evaluators/assertions/test_mark.py": """
        evaluators/assertions/json_data evaluators/assertions/keys evaluators/assertions/row
        evaluators/assertions/text""",
    "cli/test_help.py": """
        cli/options_report_cache parts/authorize/options_authorize parts/authorize/__init__
        cli/options_generate_show_compare_waive
        parts/bring/options_import_adopt parts/lab/__init__
        parts/lab/options_lab
        cli/options cli/options_run_and_plan
        parts/start/options_init_demo_doctor parts/start/__init__ values/formats_and_defaults""",
    "parts/lab/test_judge_calibrate.py": """
        parts/lab/calibration gate/policy/required_agreement parts/lab/judge_calibrate""",
    "parts/lab/test_probe.py": "parts/lab/probe_figures",
    "cli/commands/test_generate.py": """
        services/drafting/review_and_insertion services/drafting/draft_requests""",
    "cli/commands/test_generate_pr.py": """
        services/drafting/publish""",
    "parts/start/test_init.py": """
        parts/start/before_init parts/start/init_providers_and_targets""",
    "parts/lab/test_history_commands.py": "parts/lab/history",
    "cli/commands/test_run.py": """
        services/expected_requests grading/setup grading/tasks services/publish_files""",
    "cli/commands/test_run_against.py": """
        services/run/grade services/run/sides parts/bring/eval_tool services/run/inputs""",
    "cli/commands/test_run_against_counts.py": "services/run/announcement",
    "cli/commands/test_announced.py": """
        values/usage services/cost_estimate services/last_run
        services/drafting/draft_requests""",
    "cli/commands/test_run_choice.py": "services/run/finished_report gate/selection/last_failed",
    "cli/commands/test_run_judge_down.py": "models/llm/responders",
    "cli/commands/test_run_killed.py": "system/coroutines",
    "cli/commands/test_http_target.py": "files/validation/http_target_and_literal_rules",
    "cli/commands/test_started_service.py": """
        grading/targets/started_services system/servers""",
    "cli/commands/test_validate.py": "files/project/checker files/project/fixer",
    "cli/commands/test_case_files.py": "files/yaml_text/case_files",
    "cli/commands/test_several_targets.py": "reports/per_target gate/report/matrix",
    "cli/commands/test_prompt_targets.py": "files/yaml_text/prompt_file",
    "cli/commands/test_waivers.py": "cli/commands/waive",
    "parts/graders/test_field_accuracy.py": "values/json_value",
    "evaluators/test_specs.py": "evaluators/kind",
    "evaluators/test_table.py": "parts/graders/grader_kinds_and_rules",
    "parts/agents/test_options.py": "parts/agents/opencode parts/agents/qwen",
    "models/judge/test_injection_scan.py": "models/judge/injection_scan",
    "models/llm/test_openai_http.py": "models/llm/direct_http",
    "parts/litellm/test_workload_identity.py": "values/hosts",
    "files/parsing/test_typed_json.py": "values/json_value",
    "files/project/test_load_config.py": """
    files/parsing/config_parser values/config values/targets
        values/workspace_settings""",
    "evaluators/test_read.py": """
        evaluators/written_criteria evaluators/code_judge evaluators/llm_judge evaluators/rubric""",
    "files/project/test_project.py": "files/validation/config_summary",
    "files/validation/test_rubric_files.py": """
        files/validation/includes
        files/validation/example_and_condition_rules values/include""",
    "reports/test_golden.py": """
        parts/formats/junit reports/content reports/case_blocks
        reports/blocks""",
    "security/test_committed_cache.py": "system/git/plumbing",
    "security/test_workflow_commands.py": "system/output_and_masking",
    "gate/selection/test_changed_cases.py": "gate/selection/prefilter",
    "parts/agents/test_agent.py": """
        system/scratch parts/agents/work grading/targets/answer_format
        parts/agents/workspace""",
    "evaluators/assertions/test_work.py": """
        evaluators/assertions/call_patterns evaluators/assertions/calls
        evaluators/assertions/folder""",
    "grading/targets/test_targets.py": """
        grading/targets/answer_format grading/targets/kinds grading/targets/llm
        grading/targets/recorded""",
    "files/validation/test_corpus.py": """
        files/validation/ambiguity_rules files/validation/assertion_rules
        files/validation/http_target_and_literal_rules files/validation/located_problems
        parts/bring/other_tools
        files/validation/reference_rules
        files/validation/shape_rules
        files/validation/target_rules files/validation/variable_rules
        files/yaml_text/constructor files/yaml_text/syntax_errors""",
}
EFFECTS: Final = """
    asyncio concurrent ctypes getpass github http litellm logging multiprocessing os pathlib random
    secrets shutil signal socket sqlite3 ssl subprocess tempfile threading time
"""
# Packages and modules that have effects or import one that has; all others are pure.
IMPURE: Final = """
    __main__ cli files/project/base_state files/project/change
    files/project/checker files/project/working_tree
    files/project/eval_search files/project/file_kinds files/project/fixer
    files/project/loaded_project files/project/near_files files/project/project
    gate/selection/proposed_cases
    files/project/suite_name services/publish_workflow
    gate/comparison/baseline_files
    parts/lab/reference_folder gate/grading_changes/all_changes gate/policy/checkout
    gate/policy/policy_source gate/report/report_file gate/selection/changed_cases
    gate/selection/last_failed gate/selection/prefilter gate/waivers/matching github
    evaluators/code_judge evaluators/evaluate evaluators/llm_judge
    evaluators/rubric evaluators/scripts grading/engine
    grading/limits grading/setup grading/targets grading/tasks
    values/context values/command_settings models/agents/logins
    models/judge/panel models/judge/request models/judge/request
    models/llm parts/lab/history_commands reports/progress
    parts/bring/adopted_tools
    gate/policy/required_agreement parts/lab/labels parts/lab/calibration
    parts/lab/rejudge
    services/run/sentinel services/cost_estimate
    services/expected_requests services/last_run
    parts/start
    services/drafting/draft_check services/drafting/draft_check
    services/drafting/drafter services/drafting/drafting_prompt
    services/drafting/draft_requests services/drafting/publish services/drafting/publish
    services/drafting/review_and_insertion services/drafting/draft_requests
    parts/lab/probing
    services/publish_comment services/publish_files parts/lab/issue
    parts/graders/composite parts/agents/agent parts/authorize
    parts/agents/grading_files parts/agents/workspace_programs parts/agents/work
    parts/agents/workspace parts/bring/options_import_adopt parts/bring/adopt
    parts/bring/import_files parts/bring/import_traces
    parts/lab/judge_attack parts/lab/judge_calibrate parts/lab/judge_label parts/lab/judge_test
    parts/lab/probe parts/lab/options_lab
    parts/litellm parts/pytest
    parts/telemetry services/publish_workflow services/run/base_comparison
    services/run/finished_report services/run/announcement
    services/run/grade services/run/inputs
    services/run/sides parts/bring/eval_tool system
"""
# The schemas, style sheets and scripts are part of the program, as its code is.
DATA: Final = "system/installation"
ENVIRONMENT: Final = {  # modules below the commands that read it; docs/rooms.md says why
    *(
        "parts/authorize/authorization",
        "parts/lab/rejudge",
        "grading/tasks",
        "parts/litellm/litellm_client",
        "models/llm/openai_http",
    ),
    *(
        "models/llm/anthropic_http",
        "models/llm/judge_command",
        "models/llm/http_guard",
        "parts/litellm/workload_identity",
    ),
    *(
        "models/llm/direct_http",
        "files/project/change",
        "files/project/checker",
        "files/project/loaded_project",
    ),
    *("services/publish_files", "services/run/finished_report"),
    *("system/output_and_masking", "parts/pytest/hooks", "parts/pytest/session_run"),
}
# The files with tests that `make test` leaves out; CONTRIBUTING.md has the rule.
DEEP: Final = """
    cli/commands/test_run_killed docs/test_site features/test_features
    parts/bring/dialects/test_wrong_types
    parts/bring/test_traces_of_wrong_types files/validation/test_traps
    hooks/test_act hooks/test_act_clouds
    hooks/test_act_generate hooks/test_act_grading hooks/test_act_nights hooks/test_act_roles
    hooks/test_act_service hooks/test_act_strangers hooks/test_act_suites
    hooks/test_action_start hooks/test_actionlint
    hooks/test_first_ten_minutes hooks/test_pre_commit models/llm/test_client package/test_wheel
    security/test_document_growth security/test_error_bodies
    security/test_input_growth security/test_markdown_injection security/test_regex_growth
    security/test_strangers security/test_text_growth parts/lab/test_clusters
    parts/lab/test_scikit_learn text/test_p_values_extremes text/test_p_values_scipy
"""
CHECKS: Final = frozenset(("raises", "fail", "expect", "expect_exact"))  # pytest's and pexpect's


def modules() -> Iterator[str]:
    """Yield modules as `folder/name`, packages with code as `folder/__init__`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py" or len(tree(path).body) > 2:
            yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def files() -> Iterator[Path]:
    yield from (path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts)


def tree(path: Path) -> ast.Module:
    """Parse a file without a search for garbage, which takes longer than to parse."""
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all statements in it: `ast.walk` without expressions, most of a tree."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, name, ())
        if isinstance(below, list):  # the body of a lambda is an expression
            for each in below:
                yield from statements(each)


def imported(module: ast.Module) -> Iterator[str]:
    """Yield the modules of the package that a file imports, and the names from them."""
    for node in statements(module):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rubric_ci"):
            name = str(node.module).removeprefix("rubric_ci").strip(".").replace(".", "/")
            yield from (name, *(f"{name}/{alias.name}".strip("/") for alias in node.names))


@pytest.fixture(scope="module")
def read() -> Read:
    """Return for each file of the tests its imports and its tests without an assertion."""
    trees = ((path, tree(path)) for path in files())
    return {path: ([*imported(each)], without_assertion(path, each)) for path, each in trees}


def test_every_module_has_tests(read: Read) -> None:
    direct = {name for names, _ in read.values() for name in names}
    listed = {name for names in THROUGH.values() for name in names.split()}
    untested = {
        name
        for name in modules()
        if name.removesuffix("/__init__") not in direct
        and not (TESTS / Path(name).parent / f"test_{Path(name).name}.py").exists()
    }
    assert sorted(untested - listed) == [], "add a test file, or list the module in THROUGH"
    assert sorted(listed - {*modules()}) == [], "THROUGH lists modules that do not exist"


@pytest.mark.parametrize("name", THROUGH)
def test_the_tests_of_other_modules_exist(name: str) -> None:
    assert (TESTS / name).is_file()


def functions(module: ast.Module) -> Iterator[Function]:
    for node in statements(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def asserts(function: Function, checks: frozenset[str]) -> bool:
    """Return True for an assert statement, or a call of a function that fails a test."""
    if any(isinstance(node, ast.Assert) for node in statements(function)):
        return True
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(getattr(call, "attr", getattr(call, "id", "")) in checks for call in calls)


def without_assertion(path: Path, module: ast.Module) -> list[str]:
    found = list(functions(module))
    helpers = (each for each in found if not each.name.startswith("test_"))
    checks = CHECKS | {each.name for each in helpers if asserts(each, CHECKS)}
    tests = (each for each in found if each.name.startswith("test_"))
    return [f"{path.name}:{each.lineno}" for each in tests if not asserts(each, checks)]


def test_every_test_has_an_assertion(read: Read) -> None:
    assert [place for _, places in read.values() for place in places] == []


def test_a_test_without_an_assertion_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text(
        "def check():\n    assert 1\ndef test_a():\n    check()\ndef test_b():\n    1\n"
    )
    assert without_assertion(path, tree(path)) == ["test_x.py:5"]


def too_long(path: Path, module_lines: int, function_lines: int) -> Iterator[str]:
    """Yield a module with too many lines, and its functions with too many."""
    if (count := len(path.read_text("utf-8").splitlines())) > module_lines:
        yield f"{path.name}: {count} lines"
    for each in functions(tree(path)):
        if (count := (each.end_lineno or 0) - each.lineno + 1) > function_lines:
            yield f"{path.name}:{each.lineno}: {each.name} has {count} lines"


@pytest.mark.parametrize("folder", [PACKAGE, HOOKS], ids=lambda folder: folder.name)
def test_no_module_and_no_function_is_too_long(folder: Path) -> None:
    paths = sorted(folder.rglob("*.py"))
    found = [place for path in paths for place in too_long(path, MODULE_LINES, FUNCTION_LINES)]
    assert paths
    assert found == [], "split it into named steps, or look for a second noun"


def test_a_long_module_and_a_long_function_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("class A:\n    @b\n    def c():\n        1\n        2\ndef d():\n    3\n")
    assert list(too_long(path, 7, 3)) == []
    assert sorted(too_long(path, 6, 2)) == ["x.py: 7 lines", "x.py:3: c has 3 lines"]


def test_the_files_of_every_change_request_exist() -> None:
    rows = [row for row in (TESTS / "requests.md").read_text("utf-8").splitlines() if "`" in row]
    named = [name for row in rows for name in re.findall(r"`([a-z_]+/[^`]+)`", row)]
    assert len([row for row in rows if row.startswith("| ")]) >= 20
    assert [name for name in named if not (TESTS.parent / name).is_file()] == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_the_files_that_a_room_names_exist(room: Path) -> None:
    """The docstring of a room and its section name the same file to start reading in."""
    text = " ".join((ast.get_docstring(tree(room / "__init__.py")) or "").split())
    named = re.findall(r"`([a-z_/]+(?:/|[.]py))`", text)
    start = re.search(r"Start reading in `([^`]+)`", text)
    page = (TESTS.parent / "docs/rooms.md").read_text("utf-8")
    assert start
    assert f" Start in `{room.name}/{start[1]}`" in page
    assert [name for name in named if not (room / name).exists()] == []
    packages = [f"{each.parent.name}/" for each in room.glob("*/__init__.py")]
    assert [name for name in packages if name not in named] == []


def test_a_target_answers_for_itself() -> None:
    said = "give TargetFacts the fact, or the kind its row in grading/targets/kinds.py"
    assert modules_that_ask_which_target() == [], said


def test_equal_file_names_have_one_meaning() -> None:
    names = Counter(name.rpartition("/")[2] for name in modules() if "__init__" not in name)
    assert {name for name, count in names.items() if count > 1} == SAME_NAMES


def effects(graph: grimp.ImportGraph, names: set[str]) -> dict[str, list[str]]:
    """Return the modules that import an effect or a module of `names`, with these imports."""
    impure = {module for module in graph.modules if listed(module, names)} | {*EFFECTS.split()}
    impure -= {dotted(DATA)}
    imports = {
        module: sorted(graph.find_modules_directly_imported_by(module) & impure)
        for module in graph.modules
        if module.startswith("rubric_ci.") and module != dotted(DATA)
    }
    return {module: found for module, found in imports.items() if found}


def listed(module: str, names: set[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def dotted(name: str) -> str:
    return f"rubric_ci.{name.removesuffix('/__init__').replace('/', '.')}"


PACKAGES: Final = {dotted(name) for name in IMPURE.split() if (PACKAGE / name).is_dir()}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("rubric_ci", include_external_packages=True, cache_dir=None)


def test_all_other_modules_are_pure(imports: grimp.ImportGraph) -> None:
    names = {dotted(name) for name in IMPURE.split()}
    found = effects(imports, names)
    pure = {module: each for module, each in found.items() if not listed(module, names)}
    assert pure == {}, "take the effect as an argument, or add the module to IMPURE"
    assert sorted(names - PACKAGES - {*found}) == [], "pure: take it off the list IMPURE"
    assert sorted(PACKAGES - imports.modules) == []


def test_an_effect_in_a_pure_module_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in [
        ("rubric_ci.text.dates", "time"),
        ("rubric_ci.text.dates", "re"),
        ("rubric_ci.parts.formats.junit", "rubric_ci.system.git.branch"),
        ("rubric_ci.reports.page", "rubric_ci.services.publish_files"),
        ("rubric_ci.files.validation.schema", "rubric_ci.system.installation"),
    ]:
        graph.add_import(importer=importer, imported=imported)
    assert effects(graph, {"rubric_ci.system.git", "rubric_ci.services.publish_files"}) == {
        "rubric_ci.parts.formats.junit": ["rubric_ci.system.git.branch"],
        "rubric_ci.reports.page": ["rubric_ci.services.publish_files"],
        "rubric_ci.text.dates": ["time"],
    }


def test_who_reads_the_environment() -> None:
    paths = {name: PACKAGE / f"{name}.py" for name in modules()}
    named = {name for name, path in paths.items() if "environ" in path.read_text("utf-8")}
    found = {name for name in named if "environ" in names_of(paths[name])}
    commands = {each for each in found if each.startswith(("cli/", "parts/start/"))}
    commands |= found & {"parts/lab/judge_test", "parts/lab/probe", "parts/bring/adopt"}
    assert found - commands == ENVIRONMENT


def names_of(path: Path) -> set[str]:
    """Return the attributes of `os` that a file uses, and the names that it imports from `os`."""
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os":
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names.update(alias.name for alias in node.names)
    return names


TABLES: Final = """
    parts/agents evaluators/assertions cli/commands parts/bring/dialects evaluators
    reports grading/targets
"""
# Modules under 40 lines that one module imports, with their reason.
FRAGMENTS: Final[Mapping[str, str]] = {}
FRAGMENT_LINES: Final = 40


def fragments(graph: grimp.ImportGraph, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield short modules that one module imports, with that module; rows of tables are none."""
    for module in sorted(graph.modules):
        name = module.removeprefix("rubric_ci.").replace(".", "/")
        path = folder / f"{name}.py"
        importers = graph.find_modules_that_directly_import(module)
        of_table = name.rpartition("/")[0] in TABLES.split()
        if not path.is_file() or len(importers) != 1 or of_table:
            continue
        if len(path.read_text("utf-8").splitlines()) < FRAGMENT_LINES:
            yield name, min(importers)


def test_no_short_module_serves_one_other_alone(imports: grimp.ImportGraph) -> None:
    found = dict(fragments(imports, PACKAGE))
    new = [f"{name}, for {found[name]}" for name in found.keys() - FRAGMENTS.keys()]
    assert sorted(new) == [], "merge it into that module, or give its reason in FRAGMENTS"
    assert sorted(FRAGMENTS.keys() - found.keys()) == [], "take it off the list FRAGMENTS"


def test_a_short_module_for_one_other_is_found(tmp_path: Path) -> None:
    graph = grimp.ImportGraph()
    for importer, imported in [
        ("rubric_ci.services.run.grade", "rubric_ci.services.run.sides"),
        ("rubric_ci.services.run.grade", "rubric_ci.services.run.long"),
        ("rubric_ci.services.run.grade", "rubric_ci.evaluators.cost"),
        ("rubric_ci.services.run.grade", "rubric_ci.services.run.shared"),
        ("rubric_ci.services.run.sides", "rubric_ci.services.run.shared"),
    ]:
        graph.add_import(importer=importer, imported=imported)
    for name in ("services/run/sides", "services/run/long", "evaluators/cost"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1\n" * (40 if name == "services/run/long" else 39))
    (tmp_path / "services/run/shared.py").write_text("1\n" * 39)
    assert dict(fragments(graph, tmp_path)) == {
        "services/run/sides": "rubric_ci.services.run.grade"
    }


def test_one_function_asks_whether_this_is_a_workflow() -> None:
    """`services/publish_workflow.py` says what follows from it."""
    found = {
        name
        for name in modules()
        if '"GITHUB_ACTIONS"' in (PACKAGE / f"{name}.py").read_text("utf-8")
    }
    assert found == {"system/actions_runner"}


def test_deep_tests_are_listed_and_run() -> None:
    mark = f"pytest.mark.{'deep'}"
    found = {path for path in files() if mark in path.read_text("utf-8")}
    names = {path.relative_to(TESTS).with_suffix("").as_posix() for path in found}
    makefile = (TESTS.parent / "Makefile").read_text("utf-8")
    assert sorted(names) == sorted(DEEP.split())
    assert re.findall('pytest .* -m "?((?:not )?deep)', makefile) == ["not deep", "deep"]
    assert (TESTS.parent / ".ci/run").read_text("utf-8").endswith(" test test-deep\n")

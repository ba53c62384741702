"""The layout: module and function lengths, tests per module, effects, the environment."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import grimp
import pytest

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

TESTS: Final = Path(__file__).parent
PACKAGE: Final = TESTS.parent / "rubric_ci"
HOOKS: Final = TESTS.parent / "hooks"
MODULE_LINES: Final = 300
FUNCTION_LINES: Final = 40  # from `def` to the last line
THROUGH: Final = {  # modules that are tested through what uses them, by the file of those tests
    "test_startup.py": "__main__",
    "adoption/test_tools.py": """
        adoption/agent_skills adoption/csv_table adoption/deepeval
        adoption/inspect_ai adoption/junit adoption/promptfoo adoption/pydantic_evals
        adoption/report adoption/samples""",
    "agents/test_agents.py": """
        agents/agent agents/atif agents/claude_code agents/codex agents/copilot
        agents/gemini_cli agents/otlp""",
    "commands/test_import.py": """
        commands/import_files dialects/promptfoo_checks dialects/csv_table
        dialects/promptfoo_code dialects/promptfoo_tests
        dialects/github_models dialects/openai_evals dialects/shims/promptfoo_shim""",
    "dialects/test_table.py": """
        dialects/agent_skills dialects/agentv dialects/translation""",
    "dialects/test_agentv_graders.py": "dialects/agentv_calls dialects/agentv_evaluators",
    "commands/test_run_tool.py": "run/tool",
    "commands/test_run_skills.py": "targets/skill",
    "assertions/test_mark.py": """
        assertions/json_data assertions/keys assertions/row assertions/text""",
    "cli/test_help.py": """
        cli/ci cli/every_day cli/judge cli/nights cli/options
        cli/request_options cli/run cli/start model/defaults""",
    "commands/test_batch_target.py": "targets/batch_command",
    "commands/test_judge_calibrate.py": """
        calibration/calibration calibration/gate calibration/measure""",
    "commands/test_probe.py": "probe/measure probe/output probe/plan",
    "commands/test_generate.py": """
        drafting/review drafting/rewrite drafting/select""",
    "commands/test_generate_pr.py": "drafting/pull_request",
    "commands/test_init.py": "project/before_init",
    "commands/test_history.py": """
        history/forecast history/runs_text""",
    "commands/test_judge_label.py": "calibration/label_file calibration/label_session",
    "commands/test_baseline_rejudge.py": "calibration/rejudge_report",
    "commands/test_run.py": """
        grading/cost_estimate grading/setup grading/tasks
        publish/files""",
    "commands/test_run_against.py": """
        run/grade run/sides run/tool run/inputs""",
    "commands/test_run_against_counts.py": "run/forecast",
    "commands/test_run_choice.py": "run/finished selection/last_failed",
    "commands/test_run_judge_down.py": "llm/preflight",
    "commands/test_run_killed.py": "system/coroutines",
    "commands/test_http_target.py": "llm/http_service",
    "commands/test_shards.py": "commands/plan",
    "commands/test_validate.py": """
        project/checker project/fixer validation/output/__init__""",
    "commands/test_case_files.py": "yaml_text/case_files",
    "commands/test_several_targets.py": "render/summary report/matrix",
    "commands/test_prompt_targets.py": "yaml_text/prompt_file",
    "commands/test_waivers.py": """
        commands/waive""",
    "editing/test_insertions.py": "editing/insertion_point",
    "kinds/test_field_accuracy.py": """
        kinds/json_compare model/json_value""",
    "kinds/test_specs.py": "kinds/kind",
    "judge/test_injection_scan.py": "judge/injection_patterns",
    "llm/test_openai_http.py": "llm/direct_http",
    "llm/test_workload_identity.py": "model/hosts",
    "parsing/test_typed_json.py": "model/json_value",
    "project/test_load_config.py": "parsing/config parsing/program_targets",
    "kinds/test_read.py": """
        kinds/code_judge kinds/llm_judge kinds/rubric""",
    "project/test_project.py": "validation/config_summary",
    "render/test_golden.py": "render/junit",
    "security/test_committed_cache.py": "git/committed",
    "security/test_workflow_commands.py": "system/output",
    "selection/test_changed_cases.py": """
        project/difference selection/prefilter""",
    "targets/test_agent.py": """
        system/scratch targets/work targets/answer_format
        targets/workspace""",
    "assertions/test_work.py": "assertions/calls assertions/folder",
    "targets/test_targets.py": """
        targets/answer_format targets/llm targets/recorded""",
    "validation/test_corpus.py": """
        validation/ambiguous_scalars validation/assertion_rules
        kinds/field_rules validation/diagnostics
        validation/other_tools
        validation/reference_rules
        validation/shape_rules validation/target_rules validation/variable_rules
        yaml_text/constructor yaml_text/limits yaml_text/syntax_errors""",
}
EFFECTS: Final = """
    asyncio concurrent ctypes getpass github http litellm logging multiprocessing os pathlib random
    secrets shutil signal socket sqlite3 ssl subprocess tempfile threading time
"""
# Packages and modules that have effects or import one that has; all others are pure.
IMPURE: Final = """
    __main__ adoption/tools cli commands git github llm system targets
    run/base_comparison run/confirmation run/forecast run/grade
    run/sides run/finished run/inputs run/tool
    calibration/sentinel calibration/correction calibration/gate calibration/label_file
    calibration/cascade calibration/label_session calibration/measure calibration/rejudge
    calibration/rejudge_report
    drafting/check drafting/engine drafting/publish drafting/pull_request drafting/review
    drafting/rewrite
    drafting/select
    evaluators/__init__ evaluators/code_judge evaluators/composite
    evaluators/llm_judge evaluators/rubric
    evaluators/scripts
    grading/cost_estimate grading/engine grading/expected_work grading/limits
     grading/setup grading/tasks
    grading_changes/changes
    history/database history/forecast
    judge/panel judge/request
    model/context model/options
    policy/checkout policy/source
    project/base_state project/before_init project/change project/checker
    project/difference project/discovery project/eval_search
    project/file_kinds project/fixer project/loaded_project
    probe/measure
    project/near_files project/project project/working_tree
    comparison/baseline comparison/merge_decision comparison/reference_folder
    publish/comment publish/files publish/issue publish/workflow
    render/progress report/report_file
     selection/changed_cases selection/last_failed selection/prefilter
    waivers/file
"""
# The schemas, style sheets and scripts are part of the program, as its code is.
DATA: Final = "system/resources"
ENVIRONMENT: Final = {  # modules below the commands that read it; docs/design.md says why
    *("calibration/rejudge", "grading/tasks", "llm/litellm_client", "llm/openai_http"),
    *("llm/anthropic_http", "llm/gemini_http", "llm/judge_command", "llm/workload_identity"),
    *("llm/direct_http", "project/change", "project/checker", "project/loaded_project"),
    *("publish/files", "run/finished"),
    *("system/masking", "system/output"),
}
CHECKS: Final = frozenset(("raises", "fail", "expect", "expect_exact"))  # pytest's and pexpect's


def modules() -> Iterator[str]:
    """Yield modules as `folder/name`, packages with code as `folder/__init__`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py" or len(path.read_text("utf-8").splitlines()) > 3:
            yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def files() -> Iterator[Path]:
    yield from (path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts)


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, and the names from them."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rubric_ci"):
            module = str(node.module).removeprefix("rubric_ci").strip(".").replace(".", "/")
            yield from (module, *(f"{module}/{alias.name}".strip("/") for alias in node.names))


def test_every_module_has_tests() -> None:
    direct = {name for path in files() for name in imported(path)}
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


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def asserts(function: Function, checks: frozenset[str]) -> bool:
    """Return True for an assert statement, or a call of a function that fails a test."""
    nodes = list(ast.walk(function))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    names = {call.attr if isinstance(call, ast.Attribute) else ast.unparse(call) for call in calls}
    return bool(names & checks) or any(isinstance(node, ast.Assert) for node in nodes)


def without_assertion(path: Path) -> list[str]:
    found = list(functions(path))
    helpers = (each for each in found if not each.name.startswith("test_"))
    checks = CHECKS | {each.name for each in helpers if asserts(each, CHECKS)}
    tests = (each for each in found if each.name.startswith("test_"))
    return [f"{path.name}:{each.lineno}" for each in tests if not asserts(each, checks)]


def test_every_test_has_an_assertion() -> None:
    found = [place for path in files() for place in without_assertion(path)]
    assert found == []


def test_a_test_without_an_assertion_is_found(tmp_path: Path) -> None:
    path = tmp_path / "test_x.py"
    path.write_text(
        "def check():\n    assert 1\ndef test_a():\n    check()\ndef test_b():\n    1\n"
    )
    assert without_assertion(path) == ["test_x.py:5"]


def too_long(path: Path, module_lines: int, function_lines: int) -> Iterator[str]:
    """Yield a module with too many lines, and its functions with too many."""
    if (count := len(path.read_text("utf-8").splitlines())) > module_lines:
        yield f"{path.name}: {count} lines"
    for each in functions(path):
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
    return module in names or ".".join(module.split(".")[:2]) in names & PACKAGES


def dotted(name: str) -> str:
    return f"rubric_ci.{name.removesuffix('/__init__').replace('/', '.')}"


PACKAGES: Final = {dotted(name) for name in IMPURE.split() if "/" not in name}


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
        ("rubric_ci.render.junit", "rubric_ci.git.branch"),
        ("rubric_ci.reports.page", "rubric_ci.publish.files"),
        ("rubric_ci.validation.schema", "rubric_ci.system.resources"),
    ]:
        graph.add_import(importer=importer, imported=imported)
    assert effects(graph, {"rubric_ci.git", "rubric_ci.publish.files"}) == {
        "rubric_ci.render.junit": ["rubric_ci.git.branch"],
        "rubric_ci.reports.page": ["rubric_ci.publish.files"],
        "rubric_ci.text.dates": ["time"],
    }


def test_who_reads_the_environment() -> None:
    found = {name for name in modules() if "environ" in names_of(PACKAGE / f"{name}.py")}
    assert {name for name in found if name.split("/")[0] not in ("cli", "commands")} == ENVIRONMENT


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
    adoption agents assertions commands dialects kinds render targets validation/output
"""
FRAGMENTS: Final = {  # modules under 60 lines that one module imports, with their reason
    "yaml_text/outline": "it reads text and is pure; its importer reads files",
}
FRAGMENT_LINES: Final = 60


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
        ("rubric_ci.run.grade", "rubric_ci.run.sides"),
        ("rubric_ci.run.grade", "rubric_ci.run.long"),
        ("rubric_ci.run.grade", "rubric_ci.kinds.cost"),
        ("rubric_ci.run.grade", "rubric_ci.run.shared"),
        ("rubric_ci.run.sides", "rubric_ci.run.shared"),
    ]:
        graph.add_import(importer=importer, imported=imported)
    for name in ("run/sides", "run/long", "kinds/cost", "run/shared"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("1\n" * (60 if name == "run/long" else 59))
    assert dict(fragments(graph, tmp_path)) == {"run/sides": "rubric_ci.run.grade"}


def test_one_function_asks_whether_this_is_a_workflow() -> None:
    """`publish/workflow.py` says what follows from it."""
    found = {
        name
        for name in modules()
        if '"GITHUB_ACTIONS"' in (PACKAGE / f"{name}.py").read_text("utf-8")
    }
    assert found == {"system/runner"}

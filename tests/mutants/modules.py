"""Which modules are mutated, and the tests that hold each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[2] / "rubric_ci"

# `make mutants` without a module, and the scheduled workflow, run these.
HELD: Final[Mapping[str, str]] = {
    "evaluators/assertions/marking.py": (
        "evaluators/assertions/test_mark.py evaluators/assertions/test_work.py "
        "evaluators/assertions/test_marking.py"
    ),
    "evaluators/assertions/text.py": (
        "evaluators/assertions/test_mark.py evaluators/assertions/test_marking.py"
    ),
    "evaluators/assertions/json_data.py": (
        "evaluators/assertions/test_mark.py evaluators/assertions/test_marking.py"
    ),
    "files/project/links.py": "files/project/test_links.py",
    "gate/selection/dependencies.py": (
        "gate/selection/test_dependencies.py gate/selection/test_affected_cases.py"
    ),
    "gate/differences/cases.py": "gate/differences/test_cases.py",
    "gate/differences/case_changes.py": (
        "gate/differences/test_case_changes.py gate/differences/test_cases.py"
    ),
    "files/project/file_kinds.py": (
        "files/project/test_eval_search.py files/project/test_file_kinds.py"
    ),
    "gate/policy/policy_source.py": "gate/policy/test_policy_source.py",
    "gate/policy/checkout.py": "gate/policy/test_checkout.py",
    "gate/differences/move.py": (
        "gate/differences/test_move.py gate/differences/test_config_changes.py"
    ),
    "gate/report/decision.py": "gate/report/test_decision.py gate/report/test_reasons.py",
    "gate/policy/governed.py": (
        "gate/policy/test_governed.py gate/differences/test_config_changes.py "
        "gate/policy/test_target_options.py"
    ),
    "parts/lab/issue.py": "parts/lab/test_issue.py",
    "gate/waivers/waiver_report.py": "gate/waivers/test_waiver_report.py",
    "gate/waivers/matching.py": "gate/waivers/test_matching.py gate/waivers/test_match.py",
    "parts/lab/history.py": "parts/lab/test_history.py",
    "files/project/base_state.py": "files/project/test_base_state.py",
    "files/editing/fixes.py": "files/editing/test_fixes.py files/editing/test_diff.py",
    "files/editing/yaml_layout.py": (
        "files/editing/test_yaml_layout.py "
        "files/editing/test_insertions.py files/editing/test_edit_properties.py"
    ),
    "files/editing/jsonl.py": "files/editing/test_jsonl.py files/editing/test_edit_properties.py",
    "files/editing/insertions.py": (
        "files/editing/test_insertions.py files/editing/test_edit_properties.py "
        "files/editing/test_append_waiver.py"
    ),
    "gate/differences/config_changes.py": "gate/differences/test_config_changes.py",
    "gate/grading_changes/all_changes.py": (
        "gate/grading_changes/test_answered_by_others.py gate/grading_changes/test_all_changes.py"
    ),
    "gate/grading_changes/file_changes.py": "gate/grading_changes/test_file_changes.py",
    "files/project/change.py": "files/project/test_change.py",
    "gate/differences/criteria.py": "gate/differences/test_criteria.py",
    "evaluators/llm_judge.py": "evaluators/test_llm_judge.py",
    "gate/report/merged_shards.py": "gate/report/test_merged_shards.py",
    "models/judge/voting.py": (
        "models/judge/test_voting.py models/judge/test_auto_votes.py models/judge/test_panel.py"
    ),
    "values/trials.py": "values/test_trials.py",
    "values/scope.py": "values/test_scope.py grading/test_case_choice.py",
    "values/scoring.py": "values/test_scoring.py",
    "models/judge/request.py": (
        "models/judge/test_cached_request.py models/judge/test_repair.py "
        "models/judge/test_panel.py services/test_expected_requests.py"
    ),
    "values/gate.py": "values/test_gate.py gate/report/test_decision.py",
    "models/llm/failures.py": "models/llm/test_retry.py",
    "text/escape.py": "text/test_escape.py text/test_error_text.py text/test_workflow_commands.py",
    "system/backoff.py": "models/llm/test_retry.py system/test_backoff.py",
    "gate/selection/affected_cases.py": (
        "gate/selection/test_edits.py gate/selection/test_affected_cases.py"
    ),
    "values/rubric.py": "values/test_rubric.py values/test_scoring.py",
    "text/p_values_and_intervals.py": (
        "text/test_p_values_and_intervals.py text/test_p_values_scipy.py"
    ),
    "models/judge/panel.py": "models/judge/test_panel.py models/judge/test_judges.py",
    "models/judge/reply.py": "models/judge/test_reply.py models/judge/test_reply_parser.py",
    "models/llm/budget.py": "models/llm/test_budget.py",
    "models/llm/cache_and_recording.py": "models/llm/test_cache_and_recording.py",
    "gate/comparison/compared.py": "gate/comparison/test_compared.py gate/comparison/test_notes.py",
    "gate/comparison/verdicts.py": "gate/comparison/test_verdicts.py",
    "gate/comparison/rule.py": "gate/comparison/test_rule.py gate/comparison/test_together.py",
    "gate/comparison/phrases.py": "gate/comparison/test_phrases.py",
    "gate/comparison/baseline_files.py": (
        "gate/comparison/test_baseline_files.py parts/lab/test_reference_folder.py"
    ),
    "gate/comparison/reference.py": (
        "gate/comparison/test_reference.py gate/comparison/test_compared.py"
    ),
    "services/run/base_comparison.py": "services/run/test_base_comparison.py",
    "parts/lab/reference_folder.py": "parts/lab/test_reference_folder.py",
    "gate/report/json_format.py": "gate/report/test_json_format.py",
    "gate/report/consistency.py": (
        "gate/report/test_consistency.py gate/report/test_case_consistency.py"
    ),
    "evaluators/rubric.py": (
        "evaluators/test_rubric.py evaluators/test_read.py files/project/test_loader.py"
    ),
    "parts/graders/composite.py": "parts/graders/test_composite.py evaluators/test_read.py",
    "parts/graders/grader_kinds_and_rules.py": (
        "parts/graders/test_grader_kinds_and_rules.py files/validation/test_rules.py "
        "files/validation/test_corpus.py"
    ),
    "files/validation/evaluator_rules.py": (
        "files/validation/test_evaluator_rules.py files/validation/test_rules.py "
        "files/validation/test_corpus.py"
    ),
    "files/validation/rubric_rules.py": (
        "files/validation/test_rubric_rules.py files/validation/test_rules.py"
    ),
    "files/validation/eval_rules.py": (
        "files/validation/test_eval_rules.py files/validation/test_rules.py"
    ),
}

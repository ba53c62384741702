"""Which modules are mutated, and the tests that hold each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[2] / "rubric_ci"

# `make mutants` without a module, and the scheduled workflow, run these.
HELD: Final[Mapping[str, str]] = {
    "assertions/table.py": (
        "assertions/test_mark.py assertions/test_work.py assertions/test_table.py"
    ),
    "assertions/text.py": "assertions/test_mark.py assertions/test_table.py",
    "assertions/json_data.py": "assertions/test_mark.py assertions/test_table.py",
    "project/links.py": "project/test_links.py",
    "selection/dependencies.py": "selection/test_dependencies.py selection/test_compare_cases.py",
    "grading_changes/cases.py": (
        "grading_changes/test_cases.py grading_changes/test_changes.py "
        "grading_changes/test_evaluators.py"
    ),
    "project/file_kinds.py": (
        "project/test_eval_content.py project/test_eval_search.py project/test_file_kinds.py"
    ),
    "policy/source.py": "policy/test_source.py",
    "policy/checkout.py": "policy/test_checkout.py",
    "editing/insertion_point.py": "editing/test_insertions.py editing/test_edit_properties.py",
    "policy/strength.py": (
        "policy/test_strength.py policy/test_changes.py policy/test_target_options.py"
    ),
    "report/gate.py": "report/test_gate.py",
    "policy/settings.py": (
        "policy/test_settings.py policy/test_changes.py policy/test_target_options.py"
    ),
    "publish/issue.py": "publish/test_issue.py",
    "grading_changes/configuration.py": (
        "grading_changes/test_configuration.py grading_changes/test_changes.py"
    ),
    "waivers/report.py": "waivers/test_report.py",
    "waivers/file.py": "waivers/test_file.py waivers/test_match.py",
    "history/record.py": "history/test_record.py history/test_from_report.py",
    "history/from_report.py": "history/test_record.py history/test_from_report.py",
    "project/base_state.py": "project/test_base_state.py",
    "editing/fixes.py": "editing/test_fixes.py editing/test_diff.py",
    "editing/yaml_fixes.py": "editing/test_yaml_fixes.py",
    "editing/yaml_layout.py": (
        "editing/test_yaml_layout.py editing/test_insertions.py editing/test_edit_properties.py"
    ),
    "editing/yaml_writer.py": "editing/test_yaml_writer.py",
    "editing/jsonl.py": "editing/test_jsonl.py editing/test_edit_properties.py",
    "editing/insertions.py": (
        "editing/test_insertions.py editing/test_edit_properties.py editing/test_append_waiver.py"
    ),
    "policy/changes.py": "policy/test_changes.py",
    "grading_changes/changes.py": "grading_changes/test_changes.py",
    "grading_changes/files.py": "grading_changes/test_files.py",
    "project/change.py": "project/test_change.py",
    "run/confirmation.py": "run/test_confirmation.py",
    "grading_changes/criteria.py": "grading_changes/test_criteria.py",
    "judge/freeform.py": "judge/test_freeform.py evaluators/test_llm_judge.py",
    "report/sharding.py": "report/test_sharding.py",
    "judge/voting.py": (
        "judge/test_voting.py judge/test_auto_votes.py judge/test_moves_to_change.py "
        "judge/test_panel.py"
    ),
    "grading/trials.py": "grading/test_trials.py",
    "model/scope.py": "model/test_scope.py grading/test_case_choice.py",
    "model/scoring.py": "model/test_scoring.py",
    "judge/request.py": (
        "judge/test_cached_request.py judge/test_repair.py judge/test_panel.py "
        "grading/test_expected_work.py"
    ),
    "model/gate.py": "model/test_gate.py report/test_gate.py",
    "llm/retry.py": "llm/test_retry.py",
    "text/escape.py": (
        "text/test_escape.py text/test_error_text.py text/test_workflow_commands.py"
    ),
    "system/backoff.py": "llm/test_retry.py system/test_backoff.py",
    "selection/fingerprint.py": "selection/test_fingerprint.py selection/test_compare_cases.py",
    "selection/compare_cases.py": "selection/test_compare_cases.py",
    "model/rubric.py": "model/test_rubric.py model/test_scoring.py",
    "statistics/significance.py": "statistics/test_significance.py statistics/test_rank_sum.py",
    "judge/panel.py": "judge/test_panel.py judge/test_judges.py",
    "judge/reply.py": "judge/test_reply.py judge/test_reply_parser.py",
    "llm/budget.py": "llm/test_budget.py",
    "llm/cache.py": "llm/test_cache.py",
    "comparison/case_change.py": "comparison/test_case_change.py comparison/test_compare.py",
    "comparison/compare.py": "comparison/test_compare.py comparison/test_alarm_budget.py",
    "comparison/alarm_budget.py": "comparison/test_alarm_budget.py comparison/test_compare.py",
    "comparison/verdicts.py": "comparison/test_verdicts.py run/test_confirmation.py",
    "comparison/wording.py": "comparison/test_wording.py",
    "comparison/notes.py": "comparison/test_notes.py comparison/test_compare.py",
    "comparison/baseline.py": "comparison/test_baseline.py comparison/test_reference_folder.py",
    "comparison/reference.py": "comparison/test_reference.py comparison/test_compare.py",
    "run/base_comparison.py": "run/test_base_comparison.py",
    "comparison/reference_folder.py": "comparison/test_reference_folder.py",
    "comparison/merge_decision.py": "comparison/test_merge_decision.py",
    "statistics/judge_errors.py": "statistics/test_judge_errors.py statistics/test_moved_rate.py",
    "comparison/drift.py": "comparison/test_drift.py",
    "statistics/power.py": "statistics/test_power.py",
    "statistics/night_effect.py": "statistics/test_night_effect.py",
    "report/json_format.py": "report/test_json_format.py",
    "report/consistency.py": "report/test_consistency.py report/test_case_consistency.py",
    "kinds/rubric.py": "kinds/test_read.py project/test_loader.py",
    "kinds/composite.py": (
        "kinds/test_composite.py kinds/test_read.py validation/test_rules.py "
        "validation/test_corpus.py"
    ),
    "validation/rubric_rules.py": "validation/test_rubric_rules.py validation/test_rules.py",
    "validation/eval_rules.py": "validation/test_eval_rules.py validation/test_rules.py",
}

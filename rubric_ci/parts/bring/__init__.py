"""Files, traces and results of other eval tools."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    commands={
        "Bring": {
            "import": "options_import_adopt:import_files",
            "adopt": "options_import_adopt:adopt",
        }
    },
    entries={
        "translated source": "dialects:translated",
        "translated configuration": "dialects:translated_config",
        "dialect of": "dialects:dialect_of",
        "files of other tools": "other_tools",
        "adopted cases": "adopted_report:cases_of",
        "run of another tool": "eval_tool:tool_report",
    },
    rules=("other_tools", "translation"),
)

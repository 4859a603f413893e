"""What the keys of a case's files are for: the descriptions that editors show.

What a key must be stands in the models; here is what it does. The defaults are those that the
loader fills in after a file was read.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["APPLIED", "CASE", "CONTEXT", "GRADERS", "GRADER_KEYS", "MOCK", "PARTS", "TOOL_LIST"]

APPLIED: Mapping[str, object] = {"runs": 3, "max_turns": 10, "timeout_seconds": 300}
"""Defaults of a case that no model has."""

CASE: Mapping[str, str] = {
    "schema_version": 'Version of the format, as a string: "1.0". case.yaml needs it, unless'
    " prompt.md has it.",
    "name": "Name of the case in reports and for --case. case.yaml needs it, unless prompt.md has"
    " it; otherwise the directory's name.",
    "description": "What the case is about, for readers.",
    "expected_outcome": "What a good result looks like, for readers; no grader looks at it.",
    "tags": "Words by which cases are selected: --tag, and -m where a tag is an identifier.",
    "plugins": "Directories of the plugins under test, relative to the case. Without it the nearest"
    " plugin around the case.",
    "runs": "How often the case is run in each arm.",
    "model": "Model of the agent in this case; --eval-model goes before it.",
    "max_turns": "Turns after which the agent is stopped; what it did before is graded.",
    "timeout_seconds": "Seconds after which the agent is stopped; what it did before is graded.",
    "allowed_tools": "Tools that the case asks for. What needs a grant is used only where"
    " --eval-allow-tools grants it as well.",
    "disallowed_tools": "Built-in tools that the agent does not get, by their bare names.",
    "append_system_prompt": "Text added to the agent's system prompt.",
    "env": "Environment variables of the agent, each with a name that begins with EVAL_.",
    "artifact_publish": "Accepted and without effect here.",
    "growthbook_overrides": "Accepted and without effect here.",
    "prompt": "What the user says to the agent; the text of prompt.md goes before it.",
    "execution": "How the agent is run.",
    "context": "What the agent finds in its workspace.",
    "graders": "What the runs have to show; those of the directory graders/ are added.",
}
"""Keys of ``case.yaml``, of its ``execution``, and of the frontmatter of ``prompt.md``."""

CONTEXT: Mapping[str, str] = {
    "scaffold_script": "Script that fills the workspace before the agent starts, relative to the"
    " case. Run only with --eval-scaffold, since it runs as you.",
    "history_file": "Recorded conversation that the prompt goes on with, relative to the case.",
    "add_dirs": "Directories inside the case that the agent may read besides its workspace.",
}

GRADER_KEYS: Mapping[str, str] = {
    "name": "Name of the grader in reports, unique in its case. Of a file graders/NAME.md it is"
    " NAME where nothing else is said.",
    "type": "Kind of grader.",
    "weight": "How much the grader counts in the score of a run, beside the others.",
    "arm": "with-only: shown for the runs with the plugin and, in two arms, not scored; both:"
    " scored in both. Where it is missing, tool_used with tool: Skill is with-only.",
}
"""Keys of every grader."""

GRADERS: Mapping[str, Mapping[str, str]] = {
    "regex": {
        "pattern": "JavaScript regular expression, searched for anywhere in the text. In a file of"
        " graders/ the text below the frontmatter stands for it.",
        "flags": "JavaScript's flags, such as i for any case; each at most once, and not u with v.",
        "match": "contains: the pattern is found; not_contains: it is not; count:N: at exactly N"
        " places.",
        "target": "Which text is searched.",
    },
    "tool_used": {
        "tool": "Exact name of the tool.",
        "input_match": "JavaScript regular expression that the input of a call, as compact JSON,"
        " has to match for the call to count.",
        "min": "Fewest calls with which the grader passes; 1 where it is missing, even beside max.",
        "max": "Most calls with which the grader passes; for none at all write min: 0 and max: 0.",
    },
    "tool_order": {
        "before": "Call that has to come first: the first call that matches counts.",
        "after": "Call that has to come later: the first call that matches counts.",
    },
    "file_exists": {
        "path": "Glob for the whole relative path of a created file: * and ? within a name or"
        " path, ** across directories; brackets and braces mean themselves.",
        "exists": "false: the grader passes when no such file was created.",
    },
    "llm": {
        "criteria": "What the judge decides on, as a statement that is true or false. In a file of"
        " graders/ the text below the frontmatter stands for it.",
        "focus": "Which text the judge is shown.",
    },
    "baseline": {
        "baseline_file": "Trace to compare with, one JSON event a line, relative to the case.",
        "criteria": "In what the run has to be at least as good as the trace. In a file of graders/"
        " the text below the frontmatter stands for it.",
    },
}

PARTS: Mapping[str, Mapping[str, str]] = {
    "FileTarget": {
        "source": "The word file.",
        "path": "Path of one file in the workspace after the run; no glob.",
    },
    "ToolPattern": {
        "tool": "Exact name of the tool.",
        "input_match": "JavaScript regular expression for the input of a call, as compact JSON.",
    },
}

MOCK: Mapping[str, str] = {
    "type": "fixed: the text below the frontmatter is the answer; agent: a model answers, told by"
    " that text of the server it plays.",
    "expect": "What the input of a call must be, by field, nested as the input is: the name of a"
    " type (string, number, boolean, array, object), a text, a number, true, false, a JavaScript"
    " /pattern/ with the flags i and s, or a list of allowed values. A call that is different is"
    " answered with an error.",
    "error": "true: the answer is an error of the tool; of fixed answers only.",
    "tools": "Names of the tools that the file answers, as the server lists them.",
    "abort_when": "When the model that answers is to end the run, in words; type: agent only.",
}

TOOL_LIST: Mapping[str, str] = {
    "tools": "Tools as the server lists them.",
    "name": "Name of the tool.",
    "description": "What the agent is told of the tool.",
    "inputSchema": "JSON Schema of the tool's input, an object.",
}

"""What the result document says of a run. Beside `document`, which writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from pytest_plugin_eval.cases.schemas import NULLABLE
from pytest_plugin_eval.records.model import Ending

__all__ = ["MAY_BE_NULL", "Part", "Run", "Share", "Usd"]

Share = Annotated[float, Field(ge=0, le=1)]
"""0 to 1."""
Usd = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
MAY_BE_NULL: JsonDict = {NULLABLE: True}


class Part(BaseModel):
    """An object of the document; later versions may add fields."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, protected_namespaces=()
    )


class Verdict(Part):
    """What a grader came to on a run."""

    name: str = Field(description="Name of the grader.")
    passed: bool = Field(description="Whether it passed.")
    weight: float | None = Field(description="Its weight in the score of the run.")
    explanation: str = Field(description="What was found, and what was expected.")
    with_only: bool = Field(
        description="Looks at what only the runs with the plugin can have; not scored in two arms."
    )
    scored: bool = Field(description="Whether it counts in the score.")
    judge_votes: list[bool] | None = Field(
        default=None, description="Votes in the order of the calls; of graders that voted."
    )
    evidence: str | None = Field(
        default=None, description="What the judge saw, cut as it was for the judge."
    )
    unreadable_votes: Count | None = Field(
        default=None, description="Failing votes that held neither PASS nor FAIL."
    )
    judge_model: str | None = Field(default=None, description="Model that voted, in its own words.")


class NoVerdict(Part):
    """A grader that came to no verdict."""

    name: str = Field(description="Name of the grader.")
    status: Literal["errored", "skipped"] = Field(
        description="errored: it could not decide; skipped: on purpose."
    )
    explanation: str = Field(description="Why.")
    scored: bool = Field(description="Whether it would have counted.")


class MockTool(Part):
    """A mocked tool."""

    tool: str = Field(description="Name of the tool.")
    responder: str = Field(description="fixed or agent.")


class MockServer(Part):
    """A server as the agent met it."""

    server: str = Field(description="Directory of the mock, or the server's name without one.")
    kind: str = Field(description="shadow: in the place of a plugin's server; standalone.")
    withheld: bool | None = Field(default=None, description="Not started, for want of a mock.")
    replay_pinned: Count | None = Field(default=None, description="Adopted recordings it has.")
    tools: list[MockTool] = Field(description="Its tools.")


class Unmocked(Part):
    """A tool that was called and has no mock."""

    tool: str = Field(description="Name of the tool.")
    count: Count = Field(description="Calls of it.")


class Replay(Part):
    """Answers by a model that were taken from recordings."""

    hits: Count = Field(description="Taken from a recording.")
    misses: Count = Field(description="Asked for.")


class MockCalls(Part):
    """Calls to mocked servers."""

    total: Count = Field(description="All of them.")
    errors: Count = Field(description="Answered with an error.")
    unmocked: list[Unmocked] = Field(description="Calls of tools without a mock.")
    cost_usd: Usd | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="What the models that answered cost; null: unknown.",
    )
    replay: Replay = Field(description="Recorded answers.")


class Mocks(Part):
    """What stood in for MCP servers in a run."""

    servers: list[MockServer] = Field(description="Servers.")
    warnings: list[str] = Field(description="What may not be as the author thinks.")
    calls: MockCalls = Field(description="What was called.")


class Aborted(Part):
    """The mock that broke the run off."""

    server: str = Field(description="Its server.")
    tool: str = Field(description="Its tool.")
    reason: str = Field(description="Why, in its words.")


class Run(Part):
    """One run of the agent, graded."""

    score: Share | None = Field(
        description="Weighted share of the scored graders that passed; null: not measured."
    )
    passed: bool = Field(description="Whether every scored grader passed.")
    turns: Count = Field(description="Turns of the agent.")
    cost_usd: Usd | None = Field(description="Agent and judge; null: unknown.")
    judge_cost_usd: Usd | None = Field(description="Of this, the judge; null: unknown.")
    # The reference leaves both out of a run that it could not set up.
    duration_seconds: float | None = Field(
        default=None, json_schema_extra=MAY_BE_NULL, description="How long the agent took."
    )
    started_at: str | None = Field(
        default=None, json_schema_extra=MAY_BE_NULL, description="When, as ISO 8601."
    )
    error: str | None = Field(description="What went wrong, in one line; null: nothing.")
    trace_path: str | None = Field(
        description="The run's record: relative to the document where it lies beside it."
    )
    skipped_paid_graders: bool = Field(description="Whether graders that cost were left out.")
    aborted: Aborted | None = Field(default=None, description="Where a mock broke the run off.")
    mocks: Mocks | None = Field(default=None, description="Where servers were mocked.")
    graders: list[Verdict] = Field(description="What the graders came to.")
    run: int | None = Field(default=None, description="Number within case and arm, from 1.")
    measured: bool | None = Field(
        default=None, description="Whether the run counts; a loss of the infrastructure does not."
    )
    unmeasured_reason: str | None = Field(
        default=None, description="Why there is no score although the agent came to an end."
    )
    ending: Ending | None = Field(default=None, description="How the run ended.")
    attempts: Count | None = Field(default=None, description="How often it was made.")
    skills_called: list[str] | None = Field(
        default=None, description="Skills that a run called which did not pass, each once."
    )
    taken_over: bool | None = Field(
        default=None, description="Finished by an earlier session (--eval-resume)."
    )
    agent_cost_usd: Usd | None = Field(
        default=None,
        json_schema_extra=MAY_BE_NULL,
        description="What the agent cost; null: unknown.",
    )
    agent_known_usd: Usd | None = Field(
        default=None, description="The known part of an agent's cost that is unknown as a whole."
    )
    judge_known_usd: Usd | None = Field(
        default=None, description="The known part of a judge's cost that is unknown as a whole."
    )
    graders_without_verdict: list[NoVerdict] | None = Field(
        default=None, description="Graders that came to none."
    )
    provenance: dict[str, object] | None = Field(
        default=None, description="With what the run was made: versions, models, hashes."
    )
    notes: list[str] | None = Field(default=None, description="Remarks on the run.")

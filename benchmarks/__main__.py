"""All benchmarks, one after the other, and their goals at a glance."""

from __future__ import annotations

import sys

from benchmarks import collect, composite, idle, judging, live, mocks, page, quality, replay
from benchmarks.report import parsed, print_goals, print_machine, print_report

_ALL = (idle, collect, replay, page, composite, quality, live, judging, mocks)


def main() -> int:
    """Run the benchmarks, each with its own number of repetitions unless one is given."""
    options = parsed(__doc__, None)
    print_machine()
    goals = []
    for each in _ALL:
        repetitions = options.repetitions or each.REPETITIONS
        report = each.measure(1 if options.quick else repetitions, options.quick)
        print_report(report)
        goals += report.goals
    sys.stdout.write("\nSummary\n")
    print_goals(goals)
    print_machine()
    return 0


if __name__ == "__main__":
    sys.exit(main())

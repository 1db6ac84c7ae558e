#!/usr/bin/env python3
"""Usage: count.py TESTLOG.JSON

Shows the output of what failed in a run of `meson test`, and prints "N passed, N failed" as its last
line. Counted are the test cases of doctest; any other test counts as one. Ends with 0 only if something
passed and nothing failed."""

import json
import re
import sys

SUMMARY = re.compile(r"^\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed", re.M)
# Each step at which a test is torn down has a line; only the last one of a run counts.
EARLIER_STEPS = re.compile(r"(?:^teardown after .*\n)+(?=teardown after )", re.M)
LONGEST = 40000  # characters of output shown per executable
BETWEEN_CASES = "=" * 79 + "\n"  # doctest's


def of_failed_cases(output):
    """What doctest says of them, and its summary; of any other program all that it says."""
    *cases, last = output.split(BETWEEN_CASES)
    return BETWEEN_CASES.join([case for case in cases if "ERROR: " in case] + [last])



passed = failed = 0
with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
    tests = [json.loads(line) for line in log]

for test in tests:
    output = test.get("stdout") or ""
    errors = test.get("stderr") or ""
    fine = test["result"] in ("OK", "EXPECTEDFAIL")
    if test["result"] == "SKIP":
        print(f"skipped: {test['name']}")
        continue
    summaries = SUMMARY.findall(output)
    good = sum(int(row[1]) for row in summaries)
    bad = sum(int(row[2]) for row in summaries)
    if not summaries:
        good = 1 if fine else 0
    if not fine:
        bad = max(bad, 1)  # a crash, a time-out, or a complaint of a sanitizer at the end
        print(f"\n===== {test['name']}: {test['result']}, status {test.get('returncode')}")
        for part in (EARLIER_STEPS.sub("", errors), of_failed_cases(output)):
            print(part[-LONGEST:].rstrip())
        print("=====")
    passed += good
    failed += bad

print(f"{passed} passed, {failed} failed")
sys.exit(0 if passed and not failed else 1)

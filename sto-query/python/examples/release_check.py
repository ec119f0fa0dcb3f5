"""Compares two builds, and ends with 1 if the second got slower: release_check.py v1.perf.data v2.perf.data"""

import sys
from pathlib import Path

import sto

baseline, candidate = map(Path, sys.argv[1:])
check = sto.memory().compare(baseline, candidate)
print(check)
sys.exit(check.verdict == "regression")

"""Builds and runs every test of the project and ends with one line: N passed, N failed.

Unit tests are GoogleTest programs, one a room; what crosses processes is pytest; the page has
vitest and, in a browser, node --test with Playwright; script/chaos runs yards under fire. Each part's own output goes to build/test-logs/ and is shown when it fails;
all failures are named again before the last line.
"""

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = os.path.join(ROOT, "build", "test-logs")
PYTHON = os.path.join(ROOT, ".tools", "venv", "bin", "python")


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.broken = []

    def add(self, name, passed, failed, skipped, seconds, log):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        print(f"{'ok  ' if not failed else 'FAIL'} {name}: {passed} passed, {failed} failed, {skipped} skipped"
              f" ({seconds:.0f} s)", flush=True)
        if failed:
            self.broken.append(name)
            with open(log, errors="replace") as file:
                text = file.read()
            print(text[-12000:], flush=True)


def run(command, log, environment=None, limit=3600, folder=ROOT):
    started = time.monotonic()
    with open(log, "wb") as file:
        try:
            code = subprocess.call(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                   env=environment, timeout=limit)
        except subprocess.TimeoutExpired:
            file.write(f"\nran past {limit} s\n".encode())
            code = 124
    return code, time.monotonic() - started


def build(preset, targets):
    folder = os.path.join(ROOT, "build", preset)
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.check_call(["cmake", "--preset", preset], cwd=ROOT, stdout=subprocess.DEVNULL)
    started = time.monotonic()
    subprocess.check_call(["cmake", "--build", folder, *(["--target", *targets] if targets else [])], cwd=ROOT)
    print(f"built {preset} in {time.monotonic() - started:.0f} s", flush=True)
    return folder


def gtests(folder, label, tally):
    for name in sorted(os.listdir(os.path.join(folder, "bin"))):
        if not name.endswith("_test"):
            continue
        log = os.path.join(LOGS, f"{label}-{name}.log")
        report = os.path.join(LOGS, f"{label}-{name}.json")
        if os.path.exists(report):
            os.remove(report)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C",
                       "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1", "UBSAN_OPTIONS": "print_stacktrace=1",
                       "TSAN_OPTIONS": "halt_on_error=0:exitcode=66"}
        code, seconds = run([os.path.join(folder, "bin", name), f"--gtest_output=json:{report}"], log, environment)
        try:
            with open(report) as file:
                counts = json.load(file)
            failed, total = counts["failures"], counts["tests"]
            skipped = sum(1 for suite in counts["testsuites"] for test in suite["testsuite"]
                          if test.get("result") == "SKIPPED")
        except (OSError, ValueError):
            failed, total, skipped = 1, 1, 0  # it ended before it could say
        if code != 0 and failed == 0:
            failed, total = 1, total + 1
        tally.add(f"{label} {name}", total - failed - skipped, failed, skipped, seconds, log)


# Each test has a yard of its own with some 80 MB of room set aside: of all that only what failed is kept.
KEEP_LITTLE = ("-o", "tmp_path_retention_policy=failed", "-o", "tmp_path_retention_count=1")


def pytests(folder, tally, environment=None):
    name = folder.replace("/", "-")
    log, report = os.path.join(LOGS, name + ".log"), os.path.join(LOGS, name + ".xml")
    if os.path.exists(report):
        os.remove(report)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *KEEP_LITTLE, f"--junitxml={report}", folder]
    code, seconds = run(command, log, environment)
    passed = failed = skipped = 0
    try:
        for suite in xml.parse(report).getroot().iter("testsuite"):
            tests, bad, left = (int(suite.get(key, 0)) for key in ("tests", "failures", "skipped"))
            bad += int(suite.get("errors", 0))
            passed, failed, skipped = passed + tests - bad - left, failed + bad, skipped + left
    except (OSError, xml.ParseError):
        failed = 1
    if code not in (0, 5) and failed == 0:
        failed = 1
    tally.add(folder, passed, failed, skipped, seconds, log)


def junit(report, code):
    """What passed, failed and was skipped by a JUnit report; one failure more when the end says so alone."""
    passed = failed = skipped = 0
    try:
        for case in xml.parse(report).getroot().iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None
            left = case.find("skipped") is not None
            passed, failed, skipped = passed + (not bad and not left), failed + bad, skipped + left
    except (OSError, xml.ParseError):
        failed = 1
    return passed, failed + (1 if code != 0 and failed == 0 else 0), skipped


def page(tally, quick):
    """The page's types and unit tests, and then the page in a browser on a real yard."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
    node = os.path.join(ROOT, ".tools/node/node_modules", f"node-linux-{machine}", "bin")
    environment = {**os.environ, "PATH": node + ":" + os.environ["PATH"], "NO_COLOR": "1"}
    web = os.path.join(ROOT, "web")
    log, report = os.path.join(LOGS, "web.log"), os.path.join(LOGS, "web.xml")
    code, seconds = run(["node", "node_modules/typescript/bin/tsc", "--noEmit"], log, environment, folder=web)
    tally.add("web types", int(code == 0), int(code != 0), 0, seconds, log)
    for name, command in (
            ("web", ["node", "node_modules/vitest/vitest.mjs", "run", "--reporter=default", "--reporter=junit",
                     f"--outputFile.junit={report}"]),
            ("web/e2e", ["node", "--test", "--test-concurrency=1", "--test-reporter=spec",
                         "--test-reporter-destination=stdout", "--test-reporter=junit",
                         f"--test-reporter-destination={report}", os.path.join(web, "e2e", "**", "*.e2e.ts")])):
        if quick and name != "web":
            continue
        if os.path.exists(report):
            os.remove(report)
        code, seconds = run(command, log, environment, folder=web)
        tally.add(name, *junit(report, code), seconds, log)


def commands(tally):
    for name, command in (("layers", ["tools/check_layers.py"]), ("messages", ["tools/check_messages.py"])):
        if os.path.exists(os.path.join(ROOT, command[0])):
            log = os.path.join(LOGS, name + ".log")
            code, seconds = run([PYTHON, *command], log)
            tally.add(name, int(code == 0), int(code != 0), 0, seconds, log)


# A share of each way to hurt a yard; more by hand: script/chaos --help.
UNDER_FIRE = (["--kills", "500"], ["--power-cuts", "20"], ["--disk-full"], ["--io-errors"], ["--clock"], ["--fd-limit"])
CANNOT_BE_DONE_HERE = 77  # no root, no loop devices


def chaos(tally):
    for words in UNDER_FIRE:
        log = os.path.join(LOGS, "chaos" + words[0] + ".log")
        environment = {**os.environ, "TRAINYARD_BIN": os.path.join(ROOT, "build/release/bin/trainyard")}
        code, seconds = run(["script/chaos", *words], log, environment)
        left = code == CANNOT_BE_DONE_HERE
        tally.add("chaos " + " ".join(words), int(code == 0), int(code != 0 and not left), int(left), seconds, log)


def main():
    quick = "--quick" in sys.argv[1:]
    os.makedirs(LOGS, exist_ok=True)
    tally = Tally()
    started = time.monotonic()
    subprocess.check_call(["script/page"], cwd=ROOT)
    print(f"built the page in {time.monotonic() - started:.0f} s", flush=True)
    release = build("release", [])
    commands(tally)
    gtests(release, "release", tally)
    if quick:
        page(tally, quick)
    else:
        for folder in ("tools", "python/tests", "tests/contract", "tests/e2e", "recipes/tests"):
            if os.path.isdir(os.path.join(ROOT, folder)):
                pytests(folder, tally)
        page(tally, quick)
        chaos(tally)
        gtests(build("dev", []), "sanitized", tally)
    if "--threads" in sys.argv[1:]:
        gtests(build("tsan", ["store_test", "yard_test", "http_test"]), "threads", tally)
    if tally.broken:
        print("broken: " + ", ".join(tally.broken))
    print(f"{tally.passed} passed, {tally.failed} failed" + (f", {tally.skipped} skipped" if tally.skipped else ""))
    return 1 if tally.failed else 0


sys.exit(main())

"""The test suites that may kill a mutant: their names, what each reaches without one, and how they are run."""

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODULES = "CacheStoreTests", "SyncEngineTests", "LocalAPIServerTests"
# Each by the tests that it stands for, and the seeds of a simulation.
SIMULATIONS = {"SimulationTests.SimulationTests/holds": 50, "SimulationTests.SystemSimulationTests/holdsForEveryType": 10}
# Migrations from older versions take half of the time, and run little of the code that is changed.
SKIPPED = "OldDatabaseTests|KilledMigrationTests"
# A process hangs that writes nothing for MOST_QUIET seconds and MOST_TIMES the time that its suite takes without a mutant.
# Counted in looks at it, so that a suspended machine does not count.
LOOK, MOST_QUIET, MOST_TIMES = 0.2, 90, 5

FAILED = re.compile(r"^✘ Test (.+?) (?:recorded an issue|failed)", re.M)
SEED = re.compile(r"\b(seed \d+) breaks")


class Suites:
    """The suites of a build folder."""

    def __init__(self, tree):
        self.tree, self.program = tree, tree / ".build/debug/repairminder-syncPackageTests.xctest"
        # What each suite reaches and how long it takes, once that is known.
        self.measured = {}

    def names(self):
        """A filter for each suite."""
        lines = subprocess.run([self.program, "--testing-library", "swift-testing", "--list-tests"], text=True, check=True,
                               cwd=self.tree, stdout=subprocess.PIPE).stdout.splitlines()
        suites = sorted({line.split("/")[0] for line in lines if line.split(".")[0] in MODULES})
        return [f"^{re.escape(suite)}/" for suite in suites if not re.search(SKIPPED, suite)] + list(SIMULATIONS)

    def measure(self, most, file, sources, jobs):
        """For each suite the mutants that it reaches, and the seconds that it takes. Without a mutant all must pass. `file`
        has them from an earlier run; they count while sources and tests stay the same."""
        known, lock = loaded(file) or {}, threading.Lock()

        def measure(name):
            module = re.match(r"\^?(\w+)", name)[1]
            digest = digest_of(sources, self.tree / "Tests" / module, self.tree / "Tests/TestSupport")
            found = known.get(name, {})
            if found.get("digest") != digest:
                found = {"digest": digest, **self._reach(name, most)}
            with lock:
                self.measured[name] = known[name] = found
                file.write_text(json.dumps(known))

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(measure, self.names()))
        return self.measured

    def _reach(self, name, most):
        with tempfile.NamedTemporaryFile(prefix="reached-") as file:
            file.write(bytes(most))
            file.flush()
            began = time.monotonic()
            environment = {"MUTANTS_REACHED": file.name}
            # On a busy machine a test may miss its time limit.
            for _ in range(3):
                if not (failure := self._first_failure(name, environment)):
                    break
            else:
                raise SystemExit(f"mutants: without a mutant, {name} fails: {failure}")
            reached = [number for number, byte in enumerate(Path(file.name).read_bytes()) if byte]
            return {"reached": reached, "seconds": round(time.monotonic() - began, 1)}

    def failure(self, name, mutant):
        """What this mutant makes fail in this suite, None if nothing. A failure counts that happens twice, after which the
        suite passes without the mutant: so a busy machine kills none. A seed of the simulation is the same each time."""
        environment = {"MUTANT": str(mutant)}
        for _ in range(3):
            found = self._first_failure(name, environment) and self._first_failure(name, environment)
            if not found or found.startswith("seed ") or not self._first_failure(name, {}):
                return found
        raise SystemExit(f"mutants: without a mutant, {name} fails too")

    def _first_failure(self, name, environment):
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
            log = Path(folder) / "log"
            run = self._started(name, log, environment)
            most_quiet = MOST_QUIET + MOST_TIMES * self.measured.get(name, {}).get("seconds", MOST_QUIET)
            try:
                size, quiet = 0, 0
                while True:
                    code, text = run.poll(), log.read_text(errors="replace")
                    if found := shown(text, code):
                        return found
                    if code is not None:
                        return None
                    quiet = quiet + 1 if len(text) == size else 0
                    size = len(text)
                    if quiet * LOOK > most_quiet:
                        return f"a hang of {name}"
                    time.sleep(LOOK)
            finally:
                if run.poll() is None:
                    os.killpg(run.pid, signal.SIGKILL)
                run.wait()

    def _started(self, name, log, environment):
        command = [self.program, "--testing-library", "swift-testing", "--no-parallel", "--filter", name]
        environment = os.environ | environment | {
            "SWIFT_DETERMINISTIC_HASHING": "1", "NO_COLOR": "1", "TMPDIR": str(log.parent), "FIRST_SEED": "1",
            "SEEDS": str(SIMULATIONS.get(name, 1))}
        with log.open("w") as output:
            # A loop that never ends may not take all memory.
            return subprocess.Popen(
                command, cwd=self.tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))


def shown(log, code):
    """What a process that wrote this shows to be wrong; `code` is what it ended with."""
    if seed := SEED.search(log):
        return f"{seed[1]} of the simulation"
    if test := FAILED.search(log):
        return test[1]
    return f"a crash ({code})" if code else None


def loaded(path):
    return json.loads(path.read_text()) if path.exists() else None


def digest_of(more, *folders):
    """Stands for the Swift files: what was found out about them counts as long as they stay the same."""
    texts = [file.read_bytes() for folder in folders for file in sorted(folder.rglob("*.swift"))]
    return hashlib.sha256(b"\0".join([*texts, more.encode()])).hexdigest()[:16]

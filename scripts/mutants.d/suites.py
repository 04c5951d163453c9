"""The test suites that may kill a mutant: their names, what each reaches without one, and how they are run."""

import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path

MODULES = "CacheStoreTests", "SyncEngineTests", "LocalAPIServerTests"
# Each by the tests that it stands for, and the seeds of a simulation.
SIMULATIONS = {"SimulationTests.SimulationTests/holds": 50, "SimulationTests.SystemSimulationTests/holdsForEveryType": 10}
# Migrations from older versions take half of the time, and run little of the code that is changed.
SKIPPED = "OldDatabaseTests|KilledMigrationTests"
# A process that writes nothing for so long hangs. Counted in looks at it, so that a suspended machine does not count.
LOOK, MOST_QUIET_LOOKS = 0.2, 450

FAILED = re.compile(r"^✘ Test (.+?) (?:recorded an issue|failed)", re.M)
SEED = re.compile(r"\b(seed \d+) breaks")


class Suites:
    """The suites of a build folder."""

    def __init__(self, tree):
        self.tree, self.program = tree, tree / ".build/debug/repairminder-syncPackageTests.xctest"

    def names(self):
        """A filter for each suite."""
        lines = subprocess.run([self.program, "--testing-library", "swift-testing", "--list-tests"], text=True, check=True,
                               cwd=self.tree, stdout=subprocess.PIPE).stdout.splitlines()
        suites = sorted({line.split("/")[0] for line in lines if line.split(".")[0] in MODULES})
        return [f"^{re.escape(suite)}/" for suite in suites if not re.search(SKIPPED, suite)] + list(SIMULATIONS)

    def reach(self, most):
        """For each suite the mutants that it reaches, and the seconds that it takes. Without a mutant all must pass."""
        found = {}
        for name in self.names():
            with tempfile.NamedTemporaryFile(prefix="reached-") as file:
                file.write(bytes(most))
                file.flush()
                began = time.monotonic()
                if failure := self.failure(name, MUTANTS_REACHED=file.name):
                    raise SystemExit(f"mutants: without a mutant, {name} fails: {failure}")
                reached = [number for number, byte in enumerate(Path(file.name).read_bytes()) if byte]
                found[name] = {"reached": reached, "seconds": round(time.monotonic() - began, 1)}
        return found

    def failure(self, name, **environment):
        """What fails in this suite, None if nothing does. What fails once and then passes does not count."""
        return self._first_failure(name, environment) and self._first_failure(name, environment)

    def _first_failure(self, name, environment):
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
            log = Path(folder) / "log"
            run = self._started(name, log, environment)
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
                    if quiet > MOST_QUIET_LOOKS:
                        return "a hang"
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

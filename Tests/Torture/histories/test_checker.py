#!/usr/bin/env python3
"""Tests the checker with histories that are good or broken in a known way; `TORTURE_SEED` repeats the drawn ones.

`broken/NAME.jsonl` and `broken/NAME.VARIANT.jsonl` must be reported as NAME and nothing else, `good/*.jsonl` not at
all.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent)]

from breakers import BREAKERS  # noqa: E402
from checker import NAMES, InvalidHistory, check, check_events  # noqa: E402
from generator import history  # noqa: E402
from lib.client import Answer  # noqa: E402
from lib.history import described, finish, short  # noqa: E402

SEED = int(os.environ.get("TORTURE_SEED") or random.randrange(1 << 32))
DRAWN = int(os.environ.get("TORTURE_HISTORIES") or 20)


class WrittenHistories(unittest.TestCase):
    def test_good_histories_pass(self):
        for path in sorted((HERE / "good").glob("*.jsonl")):
            with self.subTest(path.stem):
                self.assertEqual([str(violation) for violation in check(path)], [])

    def test_broken_histories_are_named(self):
        for path in sorted((HERE / "broken").glob("*.jsonl")):
            with self.subTest(path.stem):
                self.assertEqual({violation.name for violation in check(path)}, {path.stem.split(".")[0]})

    def test_every_violation_has_a_history(self):
        self.assertEqual({path.stem.split(".")[0] for path in (HERE / "broken").glob("*.jsonl")}, set(NAMES))

    def broken(self):
        """Yields the name and the events of each broken history."""
        for path in sorted((HERE / "broken").glob("*.jsonl")):
            events = [json.loads(line) for line in path.read_text().splitlines() if not line.startswith("#")]
            yield path.stem, [{**event, "line": line} for line, event in enumerate(events, 1)]

    def test_the_order_of_lines_does_not_matter(self):
        for stem, events in self.broken():
            with self.subTest(stem):
                self.assertEqual({violation.name for violation in check_events(events[::-1])}, {stem.split(".")[0]})

    def test_a_history_in_which_nothing_is_seen_proves_nothing(self):
        for stem, events in self.broken():
            blind = [{**event, "outcome": "unknown", "seen": None} if event["op"] in ("read", "list") else event
                     for event in events if event["op"] not in ("final", "rename", "conflict")]
            blind = [{key: value for key, value in event.items() if key not in ("seen", "if_match")}
                     if event["op"] != "initial" else event for event in blind]
            with self.subTest(stem):
                self.assertEqual(check_events(blind), [])


class Explanations(unittest.TestCase):
    def report_of(self, name):
        return "\n".join(str(violation) for violation in check(HERE / "broken" / f"{name}.jsonl"))

    def test_a_cycle_is_explained_step_by_step(self):
        report = self.report_of("half-applied-write")
        self.assertIn("T1 came before T2", report)
        self.assertIn("a contradiction", report)

    def test_the_shortest_cycle_is_reported(self):
        self.assertNotIn("T3", self.report_of("half-applied-write"))
        self.assertNotIn("T5", self.report_of("dependency-cycle"))

    def test_a_report_names_lines_and_values(self):
        report = self.report_of("read-your-writes")
        self.assertIn("notes/n1, one", report)
        self.assertIn("line 4: c1 at d1 saw one: a0", report)


class Files(unittest.TestCase):
    def check_text(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.jsonl"
            path.write_text(text)
            return check(path)

    def test_a_line_that_was_cut_off_is_left_out(self):
        self.assertEqual(self.check_text('{"op": "down", "at": "d1", "start": 1}\n{"op": "rea'), [])

    def test_what_is_not_a_history_is_refused(self):
        backwards = {"op": "read", "by": "c", "at": "d", "start": 2, "end": 1, "outcome": "ok", "entity": "e",
                     "id": "i", "seen": None}
        for text in ('{"op": "guess"}', '{"op": "down"}', "[", json.dumps(backwards)):
            with self.subTest(text), self.assertRaises(InvalidHistory):
                self.check_text(text + "\n")

    def test_a_value_written_twice_is_refused(self):
        write = {"op": "write", "by": "c", "at": "d", "start": 1, "end": 2, "outcome": "ok", "entity": "e", "id": "i",
                 "values": {"one": "a"}}
        with self.assertRaises(InvalidHistory):
            self.check_text(f"{json.dumps(write)}\n{json.dumps(write)}\n")

    def test_a_created_value_that_was_there_before_is_refused(self):
        create = {"op": "create", "by": "c", "at": "d", "start": 1, "end": 2, "outcome": "ok", "entity": "e", "id": "i",
                  "values": {"one": "a"}}
        initial = {"op": "initial", "entity": "e", "seen": [{"id": "j", "one": "a"}]}
        with self.assertRaises(InvalidHistory):
            self.check_text(f"{json.dumps(create)}\n{json.dumps(initial)}\n")

    def test_the_program_exits_with_the_verdict(self):
        broken = HERE / "broken" / "stale-read.jsonl"
        for arguments, status in (([HERE / "good" / "empty.jsonl"], 0), ([broken], 1), ([HERE / "check"], 2),
                                  (["--names"], 0)):
            done = subprocess.run([HERE / "check", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)


class Recorder(unittest.TestCase):
    """What the callers of the fault tests record of a call."""

    def event(self, method, path, status, body, sent=None, headers=None, answered=None):
        event = described(method, path, sent, headers)
        if event is not None:
            finish(event, Answer(status, answered or {"content-type": "application/json"}, json.dumps(body).encode()))
        return event

    def test_a_write_has_its_values_and_what_the_answer_shows(self):
        record = {"id": "u1", "text": "t", "one": "a", "_sync": {}}
        event = self.event("PATCH", "/v1/notes/L1", 200, record, {"one": "a", "key": "secret"}, {"If-Match": "v1"})
        self.assertEqual(event["values"], {"one": "a"})
        self.assertEqual(event["seen"], {"id": "u1", "text": "t", "one": "a", "two": None, "three": None})
        self.assertEqual((event["op"], event["id"], event["if_match"], event["outcome"]), ("write", "L1", "v1", "ok"))

    def test_outcomes(self):
        for status, outcome in ((412, "fail"), (503, "fail"), (500, "unknown"), (504, "unknown")):
            self.assertEqual(self.event("PATCH", "/v1/notes/L1", status, {}, {"one": "a"})["outcome"], outcome)

    def test_a_missing_record_is_a_read(self):
        problem = {"content-type": "application/problem+json"}
        event = self.event("GET", "/v1/notes/L1", 404, {}, answered=problem)
        self.assertEqual((event["outcome"], event["seen"]), ("ok", None))

    def test_only_a_whole_list_is_complete(self):
        for path, following, is_complete in (("/v1/notes?limit=9&sort=-one", None, True), ("/v1/notes", "c", False),
                                             ("/v1/notes?one=a", None, False)):
            event = self.event("GET", path, 200, {"data": [{"id": "n1"}], "next": following})
            self.assertEqual(event["complete"], is_complete, path)

    def test_other_calls_are_not_recorded(self):
        for method, path in (("GET", "/v1/status"), ("GET", "/v1/notes?fields=id"), ("GET", "/v1/notes/n1/history"),
                             ("POST", "/v1/notes/n1/photos")):
            self.assertIsNone(described(method, path, {}, None))

    def test_long_values_stay_apart(self):
        self.assertEqual(short("a" * 60), "a" * 60)
        self.assertNotEqual(short("a" + "." * 100), short("a" + "." * 101))
        self.assertLess(len(short("a" * 60_000)), 60)


class DrawnHistories(unittest.TestCase):
    """Histories from a model that keeps every promise, and the same ones broken in one drawn way."""

    @classmethod
    def setUpClass(cls):
        print(f"histories: TORTURE_SEED={SEED}, {DRAWN} drawn", file=sys.stderr)

    def test_good_ones_pass(self):
        met = Counter()
        for number in range(DRAWN):
            events = history(SEED + number)
            with self.subTest(seed=SEED + number):
                self.assertEqual([str(violation) for violation in check_events(events)], [])
            met.update((event["op"], event.get("outcome")) for event in events)
        for what in (("conflict", None), ("down", None), ("write", "unknown"), ("create", "unknown"), ("delete", "ok")):
            self.assertGreater(met[what], 0, f"no history had {what}, so nothing was tested")

    def test_broken_ones_are_found(self):
        broken = Counter()
        for breaker in BREAKERS:
            # Not every history has a place for every fault.
            for number in range(5 * DRAWN):
                seed = SEED + number
                events = history(seed, steps=150)
                expected = breaker(events, random.Random(f"{seed}/{breaker.__name__}"))
                if expected is None:
                    continue
                broken[breaker.__name__] += 1
                with self.subTest(breaker=breaker.__name__, seed=seed):
                    self.assertTrue(expected & {violation.name for violation in check_events(events)})
                if broken[breaker.__name__] >= max(DRAWN // 4, 3):
                    break
            self.assertGreater(broken[breaker.__name__], 0, f"{breaker.__name__} was never possible")


if __name__ == "__main__":
    unittest.main()

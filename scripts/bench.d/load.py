"""Load on an HTTP server: by wrk where it is installed, else with a slower client of our own."""

import itertools
import json
import re
import shutil
import subprocess
import tempfile

import client
from client import Load

UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}

# All requests are built before the first is sent, except writes, each of which needs a new text.
SCRIPT = """
local calls = %s
local next, made, mine = 0, {}, ""
local threads = 0
function setup(thread) threads = threads + 1; thread:set("number", threads) end
function init(args)
  mine = tostring(number) .. "-" .. %s
  next = number * 7919
  for i, call in ipairs(calls) do made[i] = wrk.format(call[1], call[2]) end
end
function request()
  next = next + 1
  local call = calls[next %% #calls + 1]
  if call[3] == "" then return made[next %% #calls + 1] end
  return wrk.format(call[1], call[2], nil, (call[3]:gsub("NEW", mine .. "-" .. next)))
end
"""
_runs = itertools.count()


def wrk_is_there():
    return shutil.which("wrk") is not None


def measure(address, calls, connections, seconds, headers=None):
    """Keeps `connections` busy for `seconds` with `calls`, each (method, path, body), in turn.

    NEW in a body becomes a text that never repeats. An answer other than 2xx makes the figure worthless, so it is an
    error.
    """
    if wrk_is_there():
        return with_wrk(address, calls, connections, seconds, headers or {})
    run, made = next(_runs), itertools.count()
    requests = (
        client.request(method, path, headers, body.replace("NEW", f"{run}-{next(made)}"))
        for method, path, body in itertools.cycle(calls))
    return client.drive(address, requests, connections, seconds=seconds)


def with_wrk(address, calls, connections, seconds, headers):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        table = "{" + ",".join("{%s}" % ",".join(json.dumps(part) for part in call) for call in calls) + "}"
        script.write(SCRIPT % (table, json.dumps(f"{next(_runs)}")))
        script.flush()
        # A long wait is a figure, not an error; wrk's default of two seconds is too short on a busy machine.
        command = ["wrk", "--latency", "--timeout", "30s",
                   f"-t{min(2, connections)}", f"-c{connections}", f"-d{max(1, round(seconds))}s"]
        for name, value in {"Content-Type": "application/json", **headers}.items():
            command += ["-H", f"{name}: {value}"]
        command += ["-s", script.name, f"http://{address[0]}:{address[1]}"]
        answer = subprocess.run(command, capture_output=True, text=True)
    output = answer.stdout + answer.stderr
    if answer.returncode or "Non-2xx" in output or "Socket errors" in output:
        raise ConnectionError(f"{calls[0][0]} {calls[0][1]} at {address}: {output}")
    rate = float(re.search(r"Requests/sec: *([\d.]+)", output)[1])
    return Load(int(re.search(r"(\d+) requests in", output)[1]), rate, at(output, "50"), at(output, "99"))


def at(output, share):
    value, unit = re.search(rf"^ *{share}% +([\d.]+)(\w+)", output, re.MULTILINE).groups()
    return float(value) * UNITS[unit]

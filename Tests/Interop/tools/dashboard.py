"""A Prometheus that scrapes three daemons answers every query of the Grafana dashboard and of the guide to fleets, with the
shipped rules."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BIN = os.environ["REPAIRMINDER_BIN"]
api, upstream = sys.argv[1:]
sys.path.append(str(ROOT / "Tests" / "Torture"))

from lib.ports import free_port  # noqa: E402


def call(address, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{address}{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


# What the panels about hooks and about the lease show. No etcd answers, so that daemon takes no writes.
SETTINGS = {
    "second": "hooks: { told: { on: changed, of: orders, command: /bin/true } }",
    "third": "standby: { etcd: \"https://127.0.0.1:1\" }",
}


def start_daemon(folder, name):
    (folder / name).mkdir()
    config = folder / name / "config.yaml"
    config.write_text(f"""schema: {ROOT}/config/schemas/repairminder.yaml
state_dir: {folder}/{name}/state
upstream: {{ base_url: "http://{upstream}" }}
listen: {{ tcp: "127.0.0.1:0", unix: {folder}/{name}/api.sock }}
{SETTINGS[name]}
""")
    log = folder / name / "log"
    process = subprocess.Popen([f"{BIN}/repairminder-sync", "run", "--config", config], stderr=log.open("w"))
    for _ in range(100):
        found = re.search(r"address=http://(\S+)", log.read_text())
        if found:
            return process, found[1]
        time.sleep(0.1)
    sys.exit(f"the daemon does not listen:\n{log.read_text()}")


def start_prometheus(folder, daemons):
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [f"{ROOT}/docs/examples/prometheus-rules.yaml"],
        "scrape_configs": [{"job_name": "repairminder-sync", "static_configs": [{"targets": daemons}]}]}))
    address = f"127.0.0.1:{free_port()}"
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
               f"--web.listen-address={address}"]
    return subprocess.Popen(command, stderr=(folder / "prometheus.log").open("w")), address


def write(daemons):
    """Each of these daemons sends a change, so that what is counted grows between two scrapes."""
    for address in daemons:
        order = call(address, "GET", "/v1/orders?limit=1")["data"][0]["id"]
        call(address, "PATCH", f"/v1/orders/{order}", {"notes": f"noted at {time.monotonic()}"})


def answer(prometheus, query):
    for word, value in {"$instance": ".*", "$__rate_interval": "1m"}.items():
        query = query.replace(word, value)
    found = call(prometheus, "GET", f"/api/v1/query?{urllib.parse.urlencode({'query': query})}")
    return found["data"]["result"]


def main(folder, processes):
    daemons = [api]
    for name in SETTINGS:
        process, address = start_daemon(folder, name)
        processes.append(process)
        daemons.append(address)
        call(address, "POST", "/v1/sync?wait=true", {})
    process, prometheus = start_prometheus(folder, daemons)
    processes.append(process)
    panels = json.loads((ROOT / "docs/examples/grafana-dashboard.json").read_text())["panels"]
    missing = {target["expr"]: panel["title"] for panel in panels for target in panel["targets"]}
    guide = (ROOT / "docs/guides/fleets.md").read_text()
    missing |= {query: "the guide" for query in re.findall(r"```\n([^`]*group_left[^`]*)```", guide)}
    count, end = len(missing), time.monotonic() + 60
    while missing and time.monotonic() < end:
        time.sleep(2)
        try:
            write(daemons[:2])
            if sum(float(sample["value"][1]) for sample in answer(prometheus, "up")) < 3:
                continue
            for query in [query for query in missing if answer(prometheus, query)]:
                del missing[query]
        except (urllib.error.URLError, ConnectionError) as error:
            print(f"  {error}")
    for query, title in missing.items():
        print(f"  no data: {title}: {query}")
    print(f"  {count - len(missing)} of {count} queries have data from {len(daemons)} daemons")
    return 1 if missing else 0


with tempfile.TemporaryDirectory() as work:
    started = []
    try:
        status = main(Path(work), started)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()
sys.exit(status)

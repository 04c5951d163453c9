"""REDbot reads each address, again with other conditions and codings, and notes what breaks HTTP ("bad") or may surprise
a cache or browser ("warning"). Bad notes fail."""
import json
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor


def addresses(api):
    """What callers use most, one of each kind of answer, errors among them."""
    with urllib.request.urlopen(f"http://{api}/v1/orders?limit=1") as answer:
        order = json.load(answer)["data"][0]["id"]
    return ["/", "/style.css", "/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/status", "/v1/schema",
            "/v1/schema/orders", "/v1/orders?limit=3", f"/v1/orders/{order}", f"/v1/orders/{order}/history",
            f"/v1/orders/{order}?include=devices", "/v1/search?q=screen", "/v1/changes?since=0", "/v1/pending", "/v1/conflicts",
            "/v1/reminders", "/v1/drift", "/v1/dashboard?period=today", "/v1/orders/none", "/v1/orders?nothing=1",
            "/nothing"]


def judged(url):
    """REDbot's event loop serves one resource, so each has a process of its own."""
    outcome = subprocess.run([sys.executable, "-B", __file__, "--one", url], capture_output=True, text=True, timeout=60)
    return url, outcome.stdout.splitlines(), outcome.stderr if outcome.returncode else ""


def one(url):
    import thor
    from configparser import ConfigParser
    from httplint.note import levels
    from redbot.resource import HttpResource

    settings = ConfigParser()
    settings.read_dict({"redbot": {"enable_local_access": "True"}})
    resource = HttpResource(settings["redbot"])
    resource.set_request(url)
    thor.events.on(resource, "check_done")(thor.stop)
    resource.check()
    thor.run()
    if resource.fetch_error or not resource.response.complete:
        sys.exit(f"no answer: {resource.fetch_error}")
    for request in [resource, *resource.subreqs.values()]:
        for note in request.response.notes:
            if note.level in (levels.BAD, levels.WARN):
                print(f"{note.level.value}: {note} ({request.check_id})")
    print(f"notes: {len(resource.response.notes)}")


def main(api):
    bad = []
    with ThreadPoolExecutor(4) as pool:
        for url, lines, error in pool.map(judged, [f"http://{api}{path}" for path in addresses(api)]):
            problems = [line for line in lines if not line.startswith("notes: ")]
            for line in problems:
                print(f"  {url}: {line}")
            # Every answer has something good to be noted, so none means that REDbot saw nothing.
            if error or not lines or lines[-1] == "notes: 0":
                problems.append(f"bad: REDbot could not judge it: {error.strip()[-500:]}")
                print(f"  {url}: {problems[-1]}")
            bad += [line for line in problems if line.startswith("bad: ")]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    one(sys.argv[2]) if sys.argv[1] == "--one" else main(sys.argv[1])

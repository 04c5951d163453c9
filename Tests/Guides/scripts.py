"""Scripts and cron: the recipes, one after the other in one bash, as a script would run them."""
import json

from lib.programs import Upstream
from machine import SCHEMA, Machine, every, require


def follow(folder):
    upstream = Upstream(SCHEMA, rows=50)
    machine = Machine(folder / "shop", upstream, "till-1")
    try:
        machine.start()
        machine.run("repairminder-sync sync --wait")
        client = machine.call("GET", "/v1/clients?limit=1").json["data"][0]["id"]
        (machine.folder / "order.json").write_text(json.dumps({"client_id": client}))
        before, recipes = machine.call("GET", "/v1/orders?count=true").json["total"], []
        for recipe in every("guides/scripts-and-cron.md", "sh"):
            if recipe.startswith("#!/bin/sh"):
                machine.program("repairminder-check", recipe.split("\n", 1)[1])
                recipe = '[ -z "$(repairminder-check)" ]\n'
            elif "127.0.0.1:7679" in recipe:
                continue  # for the demo, instead of the socket
            elif "repairminder-sync events" in recipe:  # it has no end
                recipe = recipe.replace("repairminder-sync events", "(timeout 2 repairminder-sync events || true)")
            recipes.append(recipe)
        recipes = [recipe.replace("/run/repairminder-sync/api.sock", machine.daemon.socket) for recipe in recipes]
        require(machine.daemon.socket in recipes[0], "the first recipe is not the function api")
        # What one recipe wrote arrives before the next one reads a tag.
        end = "repairminder-sync sync --wait >/dev/null"
        done = "".join(f"{recipe}\n{end}\necho 'recipe {number}'\n" for number, recipe in enumerate(recipes))
        said = machine.run(done)
        require(f"recipe {len(recipes) - 1}\n" in said and "the upstream has it" in said, f"a recipe ended the script:\n{said}")
        require(machine.call("GET", "/v1/orders?count=true").json["total"] == before + 1, "the order is not there once")
        return f"{len(recipes)} recipes"
    finally:
        machine.stop()
        upstream.stop()

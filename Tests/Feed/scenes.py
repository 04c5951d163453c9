"""What the feed is put through, one function each. They raise `Failed` and return a line of what happened."""
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

from compare import check_history, differences, listed
from liar import Liar
from lib.programs import Failed, await_true
from shop import SCHEMA, Feed, Shop
from values import LONG


def require(holds, complaint):
    if not holds:
        raise Failed(complaint)


def require_equal(postgres, database, schema, shop, history=False):
    found = differences(postgres, database, schema, shop.name, shop.client, history)
    require(not found, f"{len(found)} differences:\n" + "\n".join(found[:5]))


def killed(postgres, folder, arguments):
    """Two daemons in one database, by feeds that are killed at random moments, of a server that crashes."""
    database = "killed"
    postgres.run(f"CREATE DATABASE {database}")
    choices = random.Random(arguments.seed)
    shops = [Shop(folder / f"shop{number}", name, arguments.seed + number)
             for number, name in enumerate(["till-1", "obrien"])]
    threads = []
    try:
        feeds = [Feed(shop, postgres, database, *more) for shop in shops
                 for more in ([], ["--schema-name", 'The "past"', "--history"])]
        for feed in feeds:
            feed.start()
        threads = [threading.Thread(target=shop.churn) for shop in shops]
        for thread in threads:
            thread.start()
        for number in range(arguments.kills):
            time.sleep(choices.uniform(0, 0.4))
            feed = choices.choice(feeds)
            feed.kill()
            if number % 8 == 7:
                postgres.stop(signal.SIGQUIT)
                time.sleep(choices.uniform(0, 0.3))
                postgres.start()
            feed.start()
            if failure := next((shop.failure for shop in shops if shop.failure), None):
                raise failure
        for shop in shops:
            shop.is_over.set()
        for thread in threads:
            thread.join()
        for shop in shops:
            shop.settle()
            for schema in ("repairminder", 'The ""past""'):
                shop.await_fed(postgres, database, schema)
        for feed in feeds:
            feed.stop()
        for shop in shops:
            require_equal(postgres, database, "repairminder", shop)
            require_equal(postgres, database, 'The ""past""', shop, history=True)
        versions = check_history(postgres, database, 'The ""past""')
        kills, writes = sum(feed.kills for feed in feeds), sum(shop.writes for shop in shops)
        require(kills >= arguments.kills, "too few kills")
        return f"{kills} kills, {postgres.stops} crashes of the server, {writes} writes, {versions} versions"
    finally:
        for shop in shops:
            shop.is_over.set()
        for thread in threads:
            thread.join()
        for shop in shops:
            shop.close()


def changed(postgres, folder, arguments):
    """The schema gets a field, changes the type of two and loses one; then the cache is lost, and a table."""
    database, schema = "changed", "repairminder"
    postgres.run(f"CREATE DATABASE {database}")
    shops = [Shop(folder / f"changed{number}", name, arguments.seed + number) for number, name in enumerate(["a", "b"])]
    try:
        feeds = [Feed(shop, postgres, database) for shop in shops]
        for feed in feeds:
            feed.once()
        for shop in shops:
            require_equal(postgres, database, schema, shop)
        shop, feed = shops[0], feeds[0]
        said = _with_another_schema(shop, feed)
        require("extra (text)" in said and "amount_text" in said, f"the feed does not say what is new: {said!r}")
        rows = postgres.rows(f"SELECT *, record->'amount' AS given FROM {schema}.items WHERE instance = 'a'", database)
        require(all(row["amount"] == row["given"] and row["amount_text"] == str(row["given"]) for row in rows
                    if row["given"] is not None), "amount is not in both of its columns")
        require(all(row["select"] == row["record"].get("select") for row in rows), "a removed field's column is not kept")
        require(any(row["extra"] == "more" for row in rows), "the new field has no column with its value")
        require(len(rows) == len(listed(shop.client, "items")), "records are missing")
        _with_another_cache(postgres, database, schema, shop, feed)
        for removal in ("DROP TABLE {}.boxes", "ALTER TABLE {}.boxes DROP COLUMN name"):
            postgres.run(removal.format(schema), database)
            for feed in feeds:
                feed.once()
            for shop in shops:
                counts = postgres.run(
                    f"SELECT count(*), count(name) FROM {schema}.boxes WHERE instance = '{shop.name}'", database)
                count = len(listed(shop.client, "boxes"))
                require(counts.strip() == f"{count}|{count}", f"after {removal} {shop.name} has {counts!r} boxes, names")
        return "a new field, other types, a removed field, another cache, a dropped table and column"
    finally:
        for shop in shops:
            shop.close()


def _with_another_schema(shop, feed):
    """Starts the daemon with another schema; returns what the feed said meanwhile."""
    text = SCHEMA.read_text().replace("amount: { type: integer }", "amount: { type: string }")
    text = text.replace("      select: { type: string }\n", "      extra: { type: string }\n")
    text = text.replace('title: "{select}"', 'title: "{id}"')
    path = shop.folder / "other.yaml"
    path.write_text(text)
    key = sorted(listed(shop.client, "items"))[0]
    feed.start()
    shop.daemon.stop()
    shop.daemon.configure(shop.upstream, {"listen": {"tcp": "127.0.0.1:0"}}, schema=path)
    shop.start()
    shop.upstream._call("PATCH", f"/__admin/records/items/{key}", {"extra": "more"})
    shop.settle()
    feed.stop()
    return feed.said() + feed.once()


def _with_another_cache(postgres, database, schema, shop, feed):
    """The daemon starts with an empty cache after records have gone: another epoch, and a load from the beginning."""
    before = postgres.rows(f"SELECT * FROM {schema}.items WHERE instance = 'b' ORDER BY id", database)
    keys = sorted(listed(shop.client, "items"))[:5]
    shop.daemon.stop()
    for key in keys:
        shop.upstream._call("DELETE", f"/__admin/records/items/{key}")
    shutil.rmtree(shop.daemon.state)
    shop.start()
    shop.settle()
    feed.once()
    left = {row["id"] for row in postgres.rows(f"SELECT id FROM {schema}.items WHERE instance = 'a'", database)}
    require(left == set(listed(shop.client, "items")) and not left & set(keys), "what is gone was not removed")
    after = postgres.rows(f"SELECT * FROM {schema}.items WHERE instance = 'b' ORDER BY id", database)
    require(before == after, "another instance's rows have changed")


def refused(postgres, folder, arguments):
    """What cannot work ends in words, and a role with few rights is enough."""
    database = "refused"
    postgres.run(f"CREATE DATABASE {database}")
    postgres.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    shop = Shop(folder / "refused", "a", arguments.seed)
    try:
        feed = Feed(shop, postgres, database, "items")
        feed.once()
        require("_feed" in postgres.run("SELECT string_agg(relname, ' ') FROM pg_class", database), "there is no table")
        require(postgres.run("SELECT to_regclass('repairminder.boxes') IS NULL", database) == "t\n", "boxes were fed")
        history = Feed(shop, postgres, database, "--history").once(expected=78)
        require("without --history" in history, f"a table of the other kind: {history!r}")
        require("no entity boxen" in Feed(shop, postgres, database, "boxen").once(expected=65), "an unknown entity")
        require("UTF8" in Feed(shop, postgres, "latin").once(expected=78), "another encoding")
        require("does not exist" in Feed(shop, postgres, "nowhere").once(expected=75), "a database that is not there")
        for address in ("postgresql://u:sek%zzrit@/x", "postgresql://u:sekzzrit@[::1/x"):
            unreadable = Feed(shop, postgres, database)
            unreadable.arguments[2] = address
            said = unreadable.once(expected=2)
            require("cannot read this address" in said and "zzrit" not in said, f"an unreadable address: {said!r}")
        postgres.run("CREATE SCHEMA own; CREATE TABLE own.items (x int)", database)
        foreign = Feed(shop, postgres, database, "items", "--schema-name", "own").once(expected=78)
        require("not a table of the feed" in foreign, f"a table of someone else: {foreign!r}")
        _limited(postgres, database, shop)
        return "wrong names, kinds and encodings; a role that may not make tables"
    finally:
        shop.close()


def _limited(postgres, database, shop):
    """Once the tables are there, a role that may only write rows can feed."""
    postgres.run("""
        CREATE ROLE writer LOGIN;
        GRANT USAGE ON SCHEMA repairminder TO writer;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA repairminder TO writer;""", database)
    feed = Feed(shop, postgres, database, "items")
    feed.arguments[2] = feed.arguments[2].replace(f"{postgres.USER}@", "writer@")
    shop.write(shop.client, "PATCH", f"/v1/items/{sorted(listed(shop.client, 'items'))[0]}", f'{{"{LONG}": "limited"}}')
    shop.settle()
    feed.once()
    count = postgres.run(f"SELECT count(*) FROM repairminder.items WHERE {LONG} = 'limited'", database)
    require(count == "1\n", f"a role with few rights has fed {count!r}")
    feed.arguments[feed.arguments.index("items")] = "boxes"
    require("permission denied" in feed.once(expected=78), "a role without rights makes no table")


def shouted(postgres, folder, arguments):
    """What the server says beside its answers never reaches the terminal of the feed, which would obey it."""
    database = "shouted"
    postgres.run(f"CREATE DATABASE {database}")
    shop = Shop(folder / "shouted", "a", arguments.seed)
    try:
        feed = Feed(shop, postgres, database, "items")
        feed.once()
        postgres.run("""
            CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE WARNING E'\\x1b]0;shouted\\x07'; RETURN NEW; END $$;
            CREATE TRIGGER shout BEFORE UPDATE ON repairminder._feed FOR EACH ROW EXECUTE FUNCTION shout();""", database)
        key = sorted(listed(shop.client, "items"))[0]
        shop.write(shop.client, "PATCH", f"/v1/items/{key}", f'{{"{LONG}": "shouted"}}')
        shop.settle()
        said = feed.once()
        require("shouted" not in said and "\x1b" not in said, f"the feed repeats what the server says: {said!r}")
        count = postgres.run(f"SELECT count(*) FROM repairminder.items WHERE {LONG} = 'shouted'", database)
        require(count == "1\n", f"the change was not fed: {count!r}")
        return "a warning with control characters"
    finally:
        shop.close()


def planted(postgres, folder, arguments):
    """Another user's functions, in a schema that all may write to, are never called: they would run with the feed's rights."""
    database = "planted"
    postgres.run(f"CREATE DATABASE {database}")
    postgres.run("""
        CREATE ROLE planter;
        GRANT CREATE ON SCHEMA public TO planter;
        CREATE TABLE public.callers (name text);
        GRANT INSERT ON public.callers TO planter;
        SET ROLE planter;
        CREATE FUNCTION public.unnest(list text[]) RETURNS SETOF text LANGUAGE sql AS
            $$ INSERT INTO public.callers VALUES (current_user); SELECT pg_catalog.unnest(list) $$;""", database)
    shop = Shop(folder / "planted", "a", arguments.seed)
    try:
        for more in ([], ["--history", "--schema-name", "history"]):
            Feed(shop, postgres, database, "items", *more).once()
        callers = postgres.run("SELECT DISTINCT name FROM public.callers", database)
        require(not callers, f"another user's function was called by {callers!r}")
        said = _squatted(postgres, database, shop)
        return f"a function of another user, and: {said}"
    finally:
        shop.close()


def _squatted(postgres, database, shop):
    """The table that a feed would make is there, and calls its maker's function."""
    postgres.run("""
        SET ROLE planter;
        CREATE TABLE public._feed (instance text PRIMARY KEY, epoch text, position bigint, shape text,
            updated_at timestamptz DEFAULT now());
        CREATE FUNCTION public.call() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO public.callers VALUES (current_user); RETURN NEW; END $$;
        CREATE TRIGGER call BEFORE INSERT ON public._feed FOR EACH ROW EXECUTE FUNCTION public.call();""", database)
    said = Feed(shop, postgres, database, "items", "--schema-name", "public").once(expected=78)
    require("public._feed" in said and "planter" in said, f"it said {said!r}")
    # A table that the feed had made, and that someone has removed since.
    feed = Feed(shop, postgres, database, "items", "--schema-name", "yard")
    feed.once()
    postgres.run("""
        GRANT CREATE, USAGE ON SCHEMA yard TO planter;
        ALTER TABLE yard.items OWNER TO planter;
        DELETE FROM yard._feed;
        SET ROLE planter;
        CREATE TRIGGER call BEFORE INSERT ON yard.items FOR EACH ROW EXECUTE FUNCTION public.call();""", database)
    again = feed.once(expected=78)
    require("yard.items" in again and "planter" in again, f"it said {again!r}")
    # A feed that writes into other tables of the schema goes on.
    Feed(shop, postgres, database, "boxes", "--schema-name", "yard").once()
    callers = postgres.run("SELECT DISTINCT name FROM public.callers", database)
    require(not callers, f"the function of a table of another user was called by {callers!r}")
    return said.splitlines()[-1]


def lied(postgres, folder, arguments):
    """A database that answers with a row of a gigabyte does not take the machine's memory."""
    shop = Shop(folder / "lied", "a", arguments.seed)
    try:
        with Liar() as liar:
            said = Feed(shop, liar, "lied").once(expected=75)
        require("memory" in said, f"it said {said!r}")
        return said.splitlines()[-1]
    finally:
        shop.close()


def locked(postgres, folder, arguments):
    """Someone else holds the lock under which tables are made: a feed ends when it is told to, and waits only to make some."""
    database = "locked"
    postgres.run(f"CREATE DATABASE {database}")
    shop = Shop(folder / "locked", "a", arguments.seed)
    feed = Feed(shop, postgres, database, "items")
    try:
        with _advisory_lock(postgres, database) as has:
            feed.start()
            await_true(lambda: has("NOT granted"), 20, "the feed does not wait for the lock")
            began = time.monotonic()
            feed.stop()
            took = time.monotonic() - began
            require("without waiting for PostgreSQL" in feed.said(), f"it said {feed.said()!r}")
        feed.once()
        postgres.run(f"ALTER DATABASE {database} SET lock_timeout = '2s'")
        with _advisory_lock(postgres, database):
            feed.once()
        return f"ended {took:.1f} s after the signal"
    finally:
        shop.close()


@contextmanager
def _advisory_lock(postgres, database):
    """Holds the lock in a session of its own; gives a function that finds such a lock by a condition."""
    def has(condition):
        return postgres.run(f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND {condition}", database) != "0\n"
    lock = "SELECT pg_advisory_lock(hashtextextended('repairminder-sync feed repairminder', 0))"
    holder = subprocess.Popen(
        [postgres.bin / "psql", "-XqAt", "-d", database, "-c", lock, "-c", "SELECT pg_sleep(300)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **postgres.environment})
    try:
        await_true(lambda: has("granted"), 20, "the lock was not taken")
        yield has
    finally:
        holder.kill()
        holder.wait()
        postgres.run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'", database)
        await_true(lambda: not has("true"), 20, "the lock is still there")


def demoted(postgres, folder, arguments):
    """The server comes back as a standby, as after a failover: the feed waits until it can write again."""
    database = "demoted"
    postgres.run(f"CREATE DATABASE {database}")
    shop = Shop(folder / "demoted", "a", arguments.seed)
    try:
        feed = Feed(shop, postgres, database)
        feed.once()
        postgres.stop()
        signal_file = postgres.data / "standby.signal"
        signal_file.touch()
        if postgres.user:
            os.chown(signal_file, postgres.user.pw_uid, postgres.user.pw_gid)
        postgres.start()
        try:
            require("feed the primary" in feed.once(expected=75), "a standby")
        finally:
            postgres.run("SELECT pg_promote()")
        feed.once()
        require_equal(postgres, database, "repairminder", shop)
        return "a standby, then promoted"
    finally:
        shop.close()


def doubled(postgres, folder, arguments):
    """Two feeds of one instance at once: neither writes what the other has written."""
    database, schema = "doubled", "repairminder"
    postgres.run(f"CREATE DATABASE {database}")
    shop = Shop(folder / "doubled", "a", arguments.seed)
    thread = threading.Thread(target=shop.churn)
    try:
        feeds = [Feed(shop, postgres, database, "--history") for _ in range(2)]
        for feed in feeds:
            feed.start()
        thread.start()
        time.sleep(4)
        shop.is_over.set()
        thread.join()
        if shop.failure:
            raise shop.failure
        shop.settle()
        shop.await_fed(postgres, database, schema)
        for feed in feeds:
            feed.stop()
        require_equal(postgres, database, schema, shop, history=True)
        return f"{check_history(postgres, database, schema)} versions by two feeds"
    finally:
        shop.is_over.set()
        if thread.is_alive():
            thread.join()
        shop.close()


SCENES = {scene.__name__: scene for scene in (refused, shouted, planted, lied, locked, demoted, changed, doubled, killed)}

"""Kinto with its storage in memory, holding the orders of a file. kinto-serve.py PORT NDJSON"""

import json
import sys

import kinto
import waitress

port, path = sys.argv[1:]
app = kinto.main({}, **{
    "kinto.storage_backend": "kinto.core.storage.memory",
    "kinto.permission_backend": "kinto.core.permission.memory",
    "kinto.cache_backend": "kinto.core.cache.memory",
    "kinto.userid_hmac_secret": "bench",
})
app.registry.permission.add_principal_to_ace("/buckets/shop", "read", "system.Everyone")
storage = app.registry.storage
storage.create("bucket", "", {"id": "shop"})
storage.create("collection", "/buckets/shop", {"id": "orders"})
with open(path) as lines:
    for line in lines:
        storage.create("record", "/buckets/shop/collections/orders", json.loads(line))
waitress.serve(app, host="127.0.0.1", port=int(port), threads=4)

"""The script that one would write at first: requests, and executemany for each page. plain-pull.py PORT DATABASE"""

import sqlite3
import sys

import requests

port, database = sys.argv[1:]
session = requests.Session()
db = sqlite3.connect(database)
page, pages, columns = 1, 1, None
while page <= pages:
    answer = session.get(f"http://127.0.0.1:{port}/api/orders", params={"page": page, "limit": 500}).json()
    pages = answer["pagination"]["total_pages"]
    if columns is None:
        columns = list(answer["data"][0])
        db.execute(f"CREATE TABLE orders ({', '.join(columns)}, PRIMARY KEY (id))")
        for column in ("order_number", "status", "client_id", "created_at", "updated_at"):
            db.execute(f"CREATE INDEX orders_{column} ON orders ({column})")
    db.executemany(
        f"INSERT INTO orders VALUES ({', '.join('?' * len(columns))}) ON CONFLICT (id) DO UPDATE SET "
        + ", ".join(f"{column} = excluded.{column}" for column in columns),
        [[order.get(column) for column in columns] for order in answer["data"]])
    db.commit()
    page += 1

"""All orders by dlt's own REST source into SQLite, run in the folder where it keeps its state. dlt-pull.py PORT DATABASE"""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

port, database = sys.argv[1:]
source = rest_api_source({
    "client": {
        "base_url": f"http://127.0.0.1:{port}/api/",
        "paginator": {"type": "page_number", "base_page": 1, "total_path": "pagination.total_pages"},
    },
    "resources": [{
        "name": "orders", "primary_key": "id", "write_disposition": "replace",
        "endpoint": {"path": "orders", "params": {"limit": 500}, "data_selector": "data"},
    }],
})
pipeline = dlt.pipeline(
    "orders", destination=dlt.destinations.sqlalchemy(f"sqlite:///{database}"), dataset_name="main", pipelines_dir=".")
pipeline.run(source).raise_on_failed_jobs()

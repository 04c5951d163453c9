"""openapi-spec-validator reads the document that the daemon serves."""
import json
import sys
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

with urllib.request.urlopen(f"http://{sys.argv[1]}/openapi.json") as answer:
    document = json.load(answer)
if not document["openapi"].startswith("3.1."):
    sys.exit(f"the document is of version {document['openapi']}: choose the validator for it here")
problems = list(OpenAPIV31SpecValidator(document).iter_errors())
for problem in problems:
    print(f"  {'/'.join(map(str, problem.absolute_path))}: {problem.message[:300]}")
print(f"  {len(document['paths'])} paths")
sys.exit(1 if problems or not document["paths"] else 0)

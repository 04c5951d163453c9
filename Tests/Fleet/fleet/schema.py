"""The fleet's schema, made from schema.yaml."""
from pathlib import Path

# The entity -> how its conflicts are decided.
POLICIES = {"latest": "last_write_wins", "ours": "local_wins", "theirs": "server_wins", "asked": "manual"}


def written_schema(folder, has_versions):
    """Writes it into `folder`; returns its path."""
    text = (Path(__file__).resolve().parents[1] / "schema.yaml").read_text()
    head, entity = text.split("  ENTITY:", 1)
    entities = "".join(f"  {name}:{entity}".replace("ENTITY", name).replace("POLICY", policy)
                       for name, policy in POLICIES.items())
    path = folder / "schema.yaml"
    path.write_text(head.replace("VERSION", "version: { etag: true }" if has_versions else "") + entities)
    return path

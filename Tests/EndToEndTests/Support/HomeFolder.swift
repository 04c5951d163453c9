import TestSupport

/// A small schema whose upstream is never there, and a mirror with one task, for tests of commands without a daemon.
extension TemporaryFolder {
    /// Writes both, and returns the path of a configuration whose cache is in `state`.
    func makeHome(state: String) throws -> String {
        let schema = try write(
            """
            schema: home
            upstream: { base_url: "http://127.0.0.1:1" }
            entities:
              tasks:
                fields: { id: { type: string }, title: { type: string } }
                pull: { path: /tasks }
            """, to: "home.yaml")
        try write(#"{"schema": "home", "upstream": "http://127.0.0.1:1", "epoch": "e"}"#, to: "mirror/_mirror.json")
        try write(#"[{"id": "t1", "title": "sweep"}]"#, to: "mirror/tasks.json")
        return try write("schema: \(schema)\nstate_dir: \(state)\nlisten: { tcp: '127.0.0.1:1' }\n", to: "c.yaml")
    }
}

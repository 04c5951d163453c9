internal import CacheStore
internal import JSONText
internal import SocketServer

/// The page at `/`: the status, for people with a browser.
///
/// It shows `/v1/status` and the changes with errors, reloads every ten seconds, and needs no script.
struct StatusPage {
    /// As `GET /v1/status` answers.
    let status: JSONText
    /// Changes with errors.
    let troubled: [JSONText]

    var response: Response {
        Response(
            status: 200, headers: [("Content-Type", "text/html; charset=utf-8")] + Self.protection,
            body: Array(page.source.utf8))
    }

    /// The page loads only our style sheet, runs no script, sends no form and cannot be framed.
    private static let protection = [
        (
            name: "Content-Security-Policy",
            value: "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
    ]

    // MARK: The page

    private var page: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="10">
        <title>\(text("state")) – \(text("schema")) – repairminder-sync</title>
        <link rel="stylesheet" href="/style.css">
        </head>
        <body>
        <header><h1>repairminder-sync</h1><p class="state \(text("state"))">\(text("state"))</p></header>
        <main>
        \(problem)\(figures)\(entities)\(changes)
        </main>
        <footer>
        <nav>\(Self.links)</nav>
        <p>version \(text("version")), schema \(text("schema")), up \(uptime)</p>
        </footer>
        </body>
        </html>

        """
    }

    private var problem: HTML {
        let rescue = status["rescue"]?["summary"]?.string.map { "The database was damaged and replaced: \($0)" }
        let missing = status["missing"]?.string.map { "Not set up: \($0)" }
        let warnings = status["warnings"]?.elements.compactMap(\.string) ?? []
        let problems = [rescue, missing ?? status["error"]?.string].compactMap(\.self) + warnings
        return "\(problems.map { "<p role=\"alert\">\($0)</p>\n" as HTML })"
    }

    private var figures: HTML {
        let reachable = status.at(path: "upstream.reachable")?.boolean ?? false
        let figures: [(name: String, value: HTML)] = [
            ("pending", "<a href=\"/v1/pending\">\(text("pending"))</a>"),
            ("failed", "<a href=\"/v1/pending\">\(text("failed"))</a>"),
            ("conflicts", "<a href=\"/v1/conflicts\">\(text("conflicts"))</a>"),
            ("drift", "<a href=\"/v1/drift\">\(text("drift"))</a>"),
            ("upstream", reachable ? "reachable" : "unreachable"),
            ("last sync", time(status["last_sync_at"])),
            ("next sync", time(status["next_sync_at"])),
        ]
        return "<dl>\(figures.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>\n" as HTML })</dl>\n"
    }

    private var entities: HTML {
        let rows = (status["entities"]?.members ?? []).map { name, entity -> HTML in
            """
            <tr><th scope="row"><a href="/v1/\(name)">\(name)</a></th><td class="number">\(text("rows", of: entity))</td>\
            <td>\(text("state", of: entity))</td><td>\(time(entity["last_synced_at"]))</td>\
            <td>\(text("error", of: entity))</td></tr>

            """
        }
        return """
            <h2>Entities</h2>
            <table><thead><tr><th scope="col">entity</th><th scope="col">rows</th><th scope="col">state</th>\
            <th scope="col">last sync</th><th scope="col">error</th></tr></thead>
            <tbody>
            \(rows)</tbody></table>

            """
    }

    private var changes: HTML {
        guard !troubled.isEmpty else { return "" }
        let rows = troubled.map { change -> HTML in
            """
            <tr><th scope="row"><a href="/v1/pending/\(text("id", of: change))">\(text("id", of: change))</a></th>\
            <td>\(text("operation", of: change)) \(text("entity", of: change)) \(text("record_id", of: change))</td>\
            <td>\(text("state", of: change))</td><td class="number">\(text("retry_count", of: change))</td>\
            <td>\(change["error"].map { text("message", of: $0) } ?? "")</td></tr>

            """
        }
        return """
            <h2>Changes with errors</h2>
            <table><thead><tr><th scope="col">id</th><th scope="col">change</th><th scope="col">state</th>\
            <th scope="col">tries</th><th scope="col">error</th></tr></thead>
            <tbody>
            \(rows)</tbody></table>

            """
    }

    private static let links = [
        "/v1/status", "/v1/pending", "/v1/conflicts", "/v1/drift", "/metrics", "/openapi.json",
    ]
    .map { "<a href=\"\($0)\">\($0)</a> " as HTML }

    // MARK: Values

    private func text(_ key: String) -> HTML { text(key, of: status) }

    /// Empty for null and for a missing key.
    private func text(_ key: String, of object: JSONText) -> HTML {
        guard let value = object[key], value.kind != .null else { return "" }
        return "\(value.plain)"
    }

    private func time(_ value: JSONText?) -> HTML {
        guard let time = value?.string else { return "never" }
        return "<time datetime=\"\(time)\">\(time)</time>"
    }

    private var uptime: HTML {
        let seconds = status["uptime_s"]?.integer ?? 0
        return "\(seconds / 86_400) d \(seconds / 3600 % 24) h \(seconds / 60 % 60) min"
    }
}

extension StatusPage {
    /// A separate file, because the page allows no inline style.
    static var styleSheet: Response {
        Response(
            status: 200,
            headers: [
                ("Content-Type", "text/css; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
                ("Cache-Control", "max-age=60"),
            ],
            body: Array(style.utf8))
    }

    private static let style = """
        :root { color-scheme: light dark; --line: light-dark(#ddd, #444); --bad: light-dark(#b00020, #ff8a80); }
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
        header { display: flex; align-items: center; gap: 1rem; }
        h1 { font-size: 1.4rem; }
        h2 { font-size: 1.1rem; margin-top: 2rem; }
        .state { padding: 0 .75rem; border: 1px solid currentColor; border-radius: 1rem; }
        .state.error, .state.offline, [role=alert] { color: var(--bad); }
        dl { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
        dt { font-size: .85rem; opacity: .7; }
        dd { margin: 0; font-size: 1.2rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
          overflow-wrap: anywhere; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        time { white-space: nowrap; font-size: .9em; }
        footer { margin-top: 2rem; font-size: .85rem; opacity: .8; }

        """
}

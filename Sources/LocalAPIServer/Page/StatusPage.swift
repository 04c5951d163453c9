internal import CacheStore
internal import JSONText
internal import SocketServer

/// The page at `/`, for people with a browser.
///
/// It shows `/v1/status` and the changes with errors by itself, as of when it was loaded: a page that reloads itself takes a
/// screen reader back to its beginning. Where scripts run, the modules of `Files` take its place and show everything else
/// through the API.
struct StatusPage {
    /// As `GET /v1/status` answers.
    let status: JSONText
    /// Changes with errors.
    let troubled: [JSONText]
    /// The schema's name for people.
    let title: String

    /// Whether a session let the reader in, who can end it.
    let isInSession: Bool

    var response: Response {
        PageFrame(
            title: "\(title)", headline: headline, tone: text("state"),
            attributes: isInSession ? " data-session" : "",
            content: "\(problem)\(figures)\(entities)\(changes)",
            footer: """
                <p>repairminder-sync \(text("version")), schema \(text("schema")), up \(uptime)</p>
                <noscript><nav><a href="/">Reload</a> \(Self.links)</nav></noscript>
                """
        ).response()
    }

    // MARK: Parts

    /// The state in words.
    private var headline: HTML {
        let count = { (name: String) in status[name]?.integer ?? 0 }
        switch status["state"]?.string {
        case "paused": return "Paused"
        case "offline": return "Offline"
        case "error": return "Needs attention"
        case "syncing": return "Syncing"
        default:
            if count("failed") + count("conflicts") > 0 { return "Needs you" }
            return count("pending") > 0 ? "Sending changes" : "In sync"
        }
    }

    private var problem: HTML {
        let rescue = status["rescue"]?["summary"]?.string.map { "The database was damaged and replaced: \($0)" }
        let missing = status["missing"]?.string.map { "Not set up: \($0)" }
        let warnings = status["warnings"]?.elements.compactMap(\.string) ?? []
        let problems = [rescue, missing ?? status["error"]?.string].compactMap(\.self) + warnings
        return "\(problems.map { "<p class=\"notice bad\" role=\"alert\">\($0)</p>\n" as HTML })"
    }

    private var figures: HTML {
        let reachable = status.at(path: "upstream.reachable")?.boolean ?? false
        let account = status.at(path: "upstream.account")?.string
        let figures: [(name: String, value: HTML)] = [
            ("pending", "<a href=\"/v1/pending\">\(text("pending"))</a>"),
            ("failed", "<a href=\"/v1/pending\">\(text("failed"))</a>"),
            ("conflicts", "<a href=\"/v1/conflicts\">\(text("conflicts"))</a>"),
            ("drift", "<a href=\"/v1/drift\">\(text("drift"))</a>"),
            ("upstream", reachable ? "reachable" : "unreachable"),
            ("account", account.map { "\($0)" } ?? "unknown"),
            ("last sync", time(status["last_sync_at"])),
            ("next sync", time(status["next_sync_at"])),
        ]
        let list = figures.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>\n" as HTML }
        return "<dl class=\"figures\">\(list)</dl>\n"
    }

    private var entities: HTML {
        let rows = (status["entities"]?.members ?? []).map { name, entity -> HTML in
            """
            <tr><th scope="row"><a href="/v1/\(name)">\(name)</a></th><td class="number">\(text("rows", of: entity))</td>\
            <td>\(text("state", of: entity))</td><td>\(time(entity["last_synced_at"]))</td>\
            <td>\(text("error", of: entity))</td></tr>

            """
        }
        return table("Entities", of: ["entity", "rows", "state", "last sync", "error"], rows)
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
        return table("Changes with errors", of: ["id", "change", "state", "tries", "error"], rows)
    }

    private func table(_ title: String, of columns: [String], _ rows: [HTML]) -> HTML {
        """
        <h2>\(title)</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="\(title)"><table>
        <thead><tr>\(columns.map { "<th scope=\"col\">\($0)</th>" as HTML })</tr></thead>
        <tbody>
        \(rows)</tbody></table></div>

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

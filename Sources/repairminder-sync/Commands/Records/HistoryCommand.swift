import ArgumentParser
import JSONText
import LocalAPI

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show a record's history: every edit, attempt, response, conflict and pull.")

    @OptionGroup var record: RecordArguments
    @OptionGroup var table: TableOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let client = try options.client()
        let path = LocalAPIPaths.history(of: record.entity, id: try await record.key(client))
        try options.show(try await ListPages.all(of: path, query: [], client)) { answer in
            let entries = answer["data"]?.elements ?? []
            return entries.isEmpty ? "no history\n" : try table.rendered(Self.table(entries))
        }
    }

    static func table(_ entries: [JSONText]) -> Table {
        Table(
            header: ["at", "change", "what", "details"],
            rows: entries.map { entry in
                [entry.shown("at"), entry.shown("change_id"), what(entry), details(entry)]
            }, kept: ["change", "what", "details"], wrapped: ["details"], times: .whole)
    }

    /// `edited here`, `uploading`, `conflict (resolved)`.
    private static func what(_ entry: JSONText) -> String {
        let kind = entry.shown("kind")
        switch (kind, entry.shown("reason")) {
        case ("queued", "edited"): return word(for: entry.shown("operation"))
        case ("queued", let reason): return reason.isEmpty ? kind : reason.replacing("_", with: " ")
        case ("discarded", let reason), ("conflict", let reason): return reason.isEmpty ? kind : "\(kind) (\(reason))"
        case ("upserted", _): return "pulled"
        default: return kind
        }
    }

    private static func word(for operation: String) -> String {
        ["create": "created here", "update": "edited here", "delete": "deleted here"][operation] ?? operation
    }

    private static func details(_ entry: JSONText) -> String {
        if let values = entry["values"], !values.members.isEmpty {
            return values.members.map { "\($0.key)=\($0.value.plain)" }.joined(separator: " ")
        }
        if let error = entry["error"] {
            return [error["class"], error["status"], error["message"]].compactMap { $0?.plain }
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        if let conflict = entry["conflict"], conflict.kind == .object { return text(of: conflict) }
        if let attempt = entry["attempt"] { return "attempt \(attempt.plain)" }
        if let old = entry["old_id"] { return "was \(old.plain)" }
        return entry["fields"]?.elements.map(\.plain).joined(separator: ",") ?? ""
    }

    private static func text(of conflict: JSONText) -> String {
        let field = conflict.shown("field")
        let winner = conflict.shown("winner")
        let sides = ["base", "local", "server"].map { "\($0)=\(conflict.shown($0))" }
        let outcome = winner.isEmpty ? "waits for you" : "\(winner) won"
        return
            ([field.isEmpty ? "the record" : field] + (field.isEmpty ? [] : sides)
            + ["\(outcome) by \(conflict.shown("rule"))"]).joined(separator: " ")
    }
}

import EntitySchema
import SchemaDraft

/// What a draft has, what it guessed, what it lacks, and what to do with it.
struct DraftReport {
    let draft: SchemaDraft
    /// The file that was written, or is to be.
    let file: String
    var notes: [String] = []
    /// That of the token; nil if the upstream answered without one.
    var tokenFile: String? = "FILE"

    private static let most = 12

    var text: String {
        var lines = ["Found \(draft.paths.count.counted("list", "lists")):"]
        lines += draft.paths.map { "  \($0.entity.padding(to: width))  GET \($0.path)  \(does($0.entity))" }
        lines.append("Guessed: \(guesses.counted("value", "values")). Each has its reason beside it in the file.")
        lines +=
            listed("Missing", draft.todos)
            + listed("Left out", draft.leftOut.filter { $0.why != .notAsked }.map { "\($0.path): \($0.reason)" })
        lines += listed("Noted", notes)
        return (lines + ["Next:"] + steps.map { "  \($0)" }).joined(separator: "\n") + "\n"
    }

    private var width: Int { min(draft.paths.map(\.entity.count).max() ?? 0, 30) }

    private func does(_ name: String) -> String {
        let operations = draft.schema[name]?.operations.map(\.rawValue) ?? []
        return operations.isEmpty ? "read only" : operations.joined(separator: ", ")
    }

    /// Comments in the file that say why, beside a value or above it.
    private var guesses: Int {
        var count = 0
        var isInside = false
        for line in draft.yaml.split(separator: "\n") where line.hasPrefix(" ") {
            let text = line.drop { $0 == " " }
            let isAbove = text.hasPrefix("# ")
            let isReason =
                isAbove
                ? !isInside && !Self.others.contains { text.hasPrefix($0) } : line.contains("  # ")
            if isReason { count += 1 }
            isInside = isAbove
        }
        return count
    }

    /// How comments begin that are no reasons: the call of a list, and what was not found.
    private static let others = ["# GET ", "# TODO "]

    private func listed(_ title: String, _ items: [String]) -> [String] {
        guard !items.isEmpty else { return [] }
        let more = items.count - Self.most
        return ["\(title): \(items.count)"] + items.prefix(Self.most).map { "  \($0)" }
            + (more > 0 ? ["  and \(more) more, in the file"] : [])
    }

    private var steps: [String] {
        let path = ShellWord.quoted(file.hasPrefix("/") || file.hasPrefix(".") ? file : "./\(file)")
        let demo = draft.settings.map { " --setting \($0)=1" }.joined()
        let settings = draft.settings.map { " --upstream.setting \($0)=…" }.joined()
        let address = draft.schema.upstream.baseURL == nil ? " --upstream.base-url URL" : ""
        let secrets = draft.schema.upstream.headerSecrets.map { " --upstream.secret \($0)=FILE" }.joined()
        let token = tokenFile.map { " --upstream.token-file \(ShellWord.quoted($0))" } ?? ""
        let flags = address + token + secrets + settings
        return [
            "repairminder-sync demo --schema \(path)\(demo)",
            "repairminder-sync check-config --probe --schema \(path)\(flags)",
            "repairminder-sync run --schema \(path)\(flags)",
        ]
    }
}

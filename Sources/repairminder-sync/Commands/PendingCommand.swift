import ArgumentParser
import JSONText
import LocalAPI

struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "Show the local changes on their way to the upstream, retry or discard them.")

    @Flag(help: "Print only how many there are.")
    var count = false

    @Option(help: ArgumentHelp("Try a change again now, or all that failed.", valueName: "id|all"))
    var retry: String?

    @Option(help: ArgumentHelp("Give a change up; its record goes back to what the upstream has.", valueName: "id"))
    var discard: String?

    @Flag(help: "With --discard: give up the changes that depend on it, too.")
    var cascade = false

    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [count, retry != nil, discard != nil].filter(\.self).count <= 1 else {
            throw ValidationError("--count, --retry and --discard exclude each other")
        }
        guard !cascade || discard != nil else { throw ValidationError("--cascade goes with --discard") }
    }

    func run() async throws {
        let client = try options.client()
        if count {
            try options.show(await client.get(LocalAPIPaths.pendingCount).body) { "\($0["pending"]?.plain ?? "")\n" }
        } else if let retry {
            let path = retry == "all" ? LocalAPIPaths.retryAllPending : LocalAPIPaths.retryPending(retry)
            let body = try await client.post(path).body
            if options.json, let body { return StandardStream.output.write(body.text + "\n") }
            StandardStream.output.write(
                retry == "all" ? "all failed changes are tried again\n" : "\(retry) is tried again\n")
        } else if let discard {
            _ = try await client.delete(
                LocalAPIPaths.pendingChange(discard), query: cascade ? [("cascade", "true")] : [])
            if !options.json { StandardStream.output.write("\(discard) is discarded\n") }
        } else {
            try await showQueue(client)
        }
    }

    private func showQueue(_ client: LocalAPIClient) async throws {
        try options.show(try await ListPages.all(of: LocalAPIPaths.pending, query: [], client)) { answer in
            let changes = answer["data"]?.elements ?? []
            return changes.isEmpty ? "nothing is pending\n" : ClientOptions.rendered(Self.table(changes))
        }
    }

    static func table(_ changes: [JSONText]) -> Table {
        let columns = ["id", "state", "operation", "entity", "record_id", "retry_count", "next_attempt_at"]
        return Table(
            header: columns.map { $0 == "retry_count" ? "tries" : $0 } + ["fields", "error"],
            rows: changes.map { change in
                let fields = change["fields"]?.elements.map(\.plain) ?? []
                return columns.map { change[$0]?.plain ?? "" }
                    + [fields.joined(separator: ","), change["error"]?["message"]?.plain ?? ""]
            })
    }
}

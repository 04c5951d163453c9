import ArgumentParser
import JSONText
import LocalAPI
import UnixSignals

struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a record in your editor ($VISUAL or $EDITOR) and send what changed.",
        discussion: """
            The record is shown as YAML. Only the values that you change are sent, and only if the record is still the \
            one you opened. An empty or unchanged file sends nothing. After a mistake the editor opens again with the \
            message.
            """)

    @OptionGroup var record: RecordArguments
    @OptionGroup var options: ClientOptions

    /// Begins the lines of messages, which are left out again.
    private static let mark = "#! "

    private typealias Changes = [(key: String, value: JSONText)]

    func run() async throws {
        let client = try options.client()
        let path = LocalAPIPaths.record(of: record.entity, id: try await record.key(client))
        let shape = try await EntityShape(of: record.entity, client)
        guard !shape.updatable.isEmpty else {
            throw CommandFailure(.badData, "the schema cannot send changes of \(record.entity)")
        }
        // Trapped before there is a file, which none of them may leave behind.
        let signals = await UnixSignalsSequence(trapping: EditedFile.endings)
        let file = try EditedFile(environment: .ofThisProcess())
        defer { file.remove() }
        async let _ = file.remove(at: signals)
        try await edit(file, path, shape, client)
    }

    /// Opens the editor until the daemon takes the changes, or there are none.
    private func edit(
        _ file: EditedFile, _ path: String, _ shape: EntityShape, _ client: LocalAPIClient
    ) async throws {
        let yaml = RecordText(shape: shape)
        var record = try await Self.read(path, shape, client)
        var text = yaml.text(of: record.body ?? .null)
        var messages: [String] = []
        while true {
            let shown = messages.map { Self.mark + TerminalText.line($0) + "\n" }.joined() + text
            try file.write(shown)
            let edited = try await file.edited()
            if edited == shown, !messages.isEmpty {
                throw CommandFailure(.badData, "nothing was sent: \(messages.joined(separator: "; "))")
            }
            text = Self.withoutMessages(edited)
            var changes: Changes = []
            do {
                changes = try yaml.changes(in: text, from: record.body ?? .null)
                guard !changes.isEmpty else { return StandardStream.error.write("nothing changed, nothing sent\n") }
                return try await send(changes, record, path, shape, client)
            } catch let error as RecordTextError {
                messages = error.messages
            } catch LocalAPIError.problem(let problem) where problem.status == 412 {
                messages = ["the record has changed since you opened it; below are its new values with your changes"]
                record = try await Self.read(path, shape, client)
                text = yaml.text(of: record.body ?? .null, edits: changes)
            } catch LocalAPIError.problem(let problem) where [400, 409, 422].contains(problem.status) {
                messages = CommandFailure(.problem(problem)).message.split(separator: "\n").map(String.init)
            }
        }
    }

    private func send(
        _ changes: Changes, _ record: LocalAPIClient.Answer, _ path: String, _ shape: EntityShape,
        _ client: LocalAPIClient
    ) async throws {
        let answer = try await patch(.object(members: changes), record, path, shape, client)
        try options.show(answer.body) { updated in
            let lines = changes.map { name, value in
                let old = record.body?[name]?.plain ?? ""
                return TerminalText.line("\(name): \(old.isEmpty ? "(empty)" : old) → \(value.plain)") + "\n"
            }
            return StyledText(
                lines.joined() + "updated \(self.record.entity) \(self.record.id): \(RecordTable.state(of: updated))\n")
        }
    }

    private static func read(
        _ path: String, _ shape: EntityShape, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> LocalAPIClient.Answer {
        var answer = try await client.get(path)
        answer.body = answer.body.map(shape.named)
        return answer
    }

    /// Sends with the version that was edited. The tag also changes when the daemon sends a change, so a newer version with
    /// the same values counts as the same.
    private func patch(
        _ changes: JSONText, _ record: LocalAPIClient.Answer, _ path: String, _ shape: EntityShape,
        _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> LocalAPIClient.Answer {
        let headers = record.tag.map { [(name: "If-Match", value: $0)] } ?? []
        do throws(LocalAPIError) {
            return try await client.patch(path, headers: headers, body: changes)
        } catch {
            guard case .problem(let problem) = error, problem.status == 412 else { throw error }
            let fresh = try await Self.read(path, shape, client)
            guard fresh.tag != record.tag, Self.hasSameValues(fresh.body, record.body, shape) else { throw error }
            return try await patch(changes, fresh, path, shape, client)
        }
    }

    private static func hasSameValues(_ one: JSONText?, _ other: JSONText?, _ shape: EntityShape) -> Bool {
        shape.updatable.allSatisfy { name in
            (one?[name] ?? .null).isEquivalent(to: other?[name] ?? .null)
        }
    }

    static func withoutMessages(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#!") }
            .joined(separator: "\n")
    }
}

import ArgumentParser
import Foundation
import JSONText
import LocalAPI

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Show one record.")

    @OptionGroup var record: RecordArguments

    @Option(
        help: ArgumentHelp(
            "Also show a secret field, such as passcode; repeatable. The daemon logs each use.", valueName: "field"))
    var reveal: [String] = []

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let query = reveal.isEmpty ? [] : [(name: "reveal", value: reveal.joined(separator: ","))]
        let client = try options.client()
        let path = LocalAPIPaths.record(of: record.entity, id: try await record.key(client))
        let answer = try await Self.explaining(record.entity) { () throws(LocalAPIError) in
            try await client.get(path, query: query)
        }
        try options.show(answer.body) { RecordTable.one($0).rendered(ClientOptions.presentation()) }
    }
}

extension GetCommand {
    /// Says of an entity without secret fields that it has none, since its addresses do not have the parameter.
    static func explaining<Answer>(
        _ entity: String, _ read: () async throws(LocalAPIError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do {
            return try await read()
        } catch {
            guard case .problem(let problem) = error, problem.code == "unknown_parameter",
                problem.errors.contains(where: { $0.field == "reveal" })
            else { throw CommandFailure(reading: error) }
            throw CommandFailure(.badData, "\(entity) has no secret fields, so leave --reveal out")
        }
    }
}

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change fields of a record.", discussion: RecordWriting.inputConvention)

    @OptionGroup var record: RecordArguments

    @Argument(
        help: ArgumentHelp(
            "The fields to change; - reads them from standard input.", valueName: "field=text|field:=json|field=@file|-"
        ),
        completion: .custom(RecordCompletion.changes))
    var fields: [String]

    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = try RecordWriting.body(fields)
        let client = try options.client(deadline: waiting.deadline)
        let path = try await record.pathToWrite(client)
        let answer = try await RecordWriting.explaining(fields) { () throws(LocalAPIError) in
            try await client.patch(path, query: waiting.query, body: body)
        }
        try options.show(answer.body) {
            StyledText("updated \(record.entity) \(record.id): \(RecordTable.state(of: $0))\n")
        }
        try WaitOption.requireConfirmed(answer, options.connection)
    }
}

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a record and print its id.", discussion: RecordWriting.inputConvention)

    @Argument(help: "The entity, such as orders.", completion: .custom(RecordCompletion.entities))
    var entity: String

    @Argument(
        help: ArgumentHelp(
            "The record's fields; - reads them from standard input.", valueName: "field=text|field:=json|field=@file|-"),
        completion: .custom(RecordCompletion.creations))
    var fields: [String]

    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = try RecordWriting.body(fields)
        let client = try options.client(deadline: waiting.deadline)
        let answer = try await RecordWriting.explaining(fields) { () throws(LocalAPIError) in
            try await client.post(LocalAPIPaths.records(of: entity), query: waiting.query, body: body)
        }
        // The key field can have any name, but the path ends with its value.
        let id = answer.location?.split(separator: "/").last?.removingPercentEncoding
        try options.show(answer.body) { StyledText("\(id ?? $0.shown("id"))\n") }
        try WaitOption.requireConfirmed(answer, options.connection)
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a record locally now and upstream as soon as possible.")

    @OptionGroup var record: RecordArguments
    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let client = try options.client(deadline: waiting.deadline)
        let path = try await record.pathToWrite(client)
        let answer = try await RecordWriting.explaining { () throws(LocalAPIError) in
            try await client.delete(path, query: waiting.query)
        }
        if !options.json { try StandardStream.output.writeResult("deleted \(record.entity) \(record.id)\n") }
        try WaitOption.requireConfirmed(answer, options.connection)
    }
}

import ArgumentParser
import LocalAPI

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Show one record.")

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: "The record's id.")
    var id: String

    @Option(help: "A secret field to show as well, such as passcode; may be given more than once. It is logged.")
    var reveal: [String] = []

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let query = reveal.isEmpty ? [] : [(name: "reveal", value: reveal.joined(separator: ","))]
        let answer = try await options.client().get(LocalAPIPaths.record(of: entity, id: id), query: query)
        try options.show(answer.body) { ClientOptions.rendered(RecordTable.one($0)) }
    }
}

import ArgumentParser
import LocalAPI

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Show one record.")

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().get(LocalAPIPaths.record(of: entity, id: id))
        try options.show(answer.body) { ClientOptions.rendered(RecordTable.one($0)) }
    }
}

import ArgumentParser
import LocalAPI

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a record here and, as soon as possible, upstream.")

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup var options: ClientOptions

    func run() async throws {
        _ = try await options.client().delete(LocalAPIPaths.record(of: entity, id: id))
        if !options.json { StandardStream.output.write("\(entity) \(id) is deleted\n") }
    }
}

import ArgumentParser
import JSONText
import LocalAPI

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change fields of a record.", discussion: RecordWriting.convention)

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: "The record's id.")
    var id: String

    @Argument(help: ArgumentHelp("The fields to change.", valueName: "field=text|field:=json"))
    var fields: [String]

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = try FieldArgument.object(fields)
        let client = try options.client()
        let answer = try await RecordWriting.explaining(fields) { () throws(LocalAPIError) in
            try await client.patch(LocalAPIPaths.record(of: entity, id: id), body: body)
        }
        try options.show(answer.body) { "\(entity) \(id) is changed: \(RecordTable.state(of: $0))\n" }
    }
}

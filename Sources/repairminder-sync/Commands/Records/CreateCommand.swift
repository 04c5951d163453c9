import ArgumentParser
import Foundation
import JSONText
import LocalAPI

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a record and print its id.", discussion: RecordWriting.convention)

    @Argument(help: "The entity, such as orders.")
    var entity: String

    @Argument(help: ArgumentHelp("The record's fields.", valueName: "field=text|field:=json"))
    var fields: [String]

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = try FieldArgument.object(fields)
        let client = try options.client()
        let answer = try await RecordWriting.explaining(fields) { () throws(LocalAPIError) in
            try await client.post(LocalAPIPaths.records(of: entity), body: body)
        }
        // The key may be called anything; the path ends with it.
        let id = answer.location?.split(separator: "/").last?.removingPercentEncoding
        try options.show(answer.body) { "\(id ?? $0["id"]?.plain ?? "")\n" }
    }
}

import ArgumentParser
import JSONText
import LocalAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the daemon is doing and the state of each entity.")

    @OptionGroup var table: TableOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().get(LocalAPIPaths.status)
        try options.show(answer.body) {
            let presentation = table.presentation
            let signals = StatusText.signals($0, presentation.times).map { "\n" + $0.rendered(presentation) }
            return StyledText(StatusText.summary($0, presentation.times)) + "\n"
                + (try table.rendered(StatusText.entities($0))) + (signals ?? "")
        }
    }
}

struct DriftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift", abstract: "Show where the upstream's records do not match the schema.")

    @OptionGroup var table: SortedTableOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        try options.show(try await options.client().get(LocalAPIPaths.drift).body) {
            try DriftText.report($0, table.options.presentation, table.rendered)
        }
    }
}

import ArgumentParser
import JSONText
import LocalAPI

struct DriftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift", abstract: "Show where the upstream's records and the schema disagree.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try options.show(try await options.client().get(LocalAPIPaths.drift).body) { answer in
            DriftText.report(answer, ClientOptions.rendered)
        }
    }
}

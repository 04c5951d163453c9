import ArgumentParser
import JSONText
import LocalAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the daemon is doing and the state of each entity.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().get(LocalAPIPaths.status)
        try options.show(answer.body) {
            let signals = StatusText.signals($0).map { "\n" + ClientOptions.rendered($0) }
            return StatusText.summary($0) + "\n" + ClientOptions.rendered(StatusText.entities($0)) + (signals ?? "")
        }
    }
}

struct DriftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift", abstract: "Show where the upstream's records do not match the schema.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try options.show(try await options.client().get(LocalAPIPaths.drift).body) { answer in
            DriftText.report(answer, ClientOptions.rendered)
        }
    }
}

import ArgumentParser
import JSONText
import LocalAPI

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the daemon is doing and how each entity stands.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().get(LocalAPIPaths.status)
        try options.show(answer.body) {
            StatusText.summary($0) + "\n" + ClientOptions.rendered(StatusText.entities($0))
        }
    }
}

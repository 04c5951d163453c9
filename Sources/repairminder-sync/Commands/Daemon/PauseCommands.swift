import ArgumentParser
import LocalAPI

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause syncing: nothing is pulled or sent until resume.",
        discussion: "Reads and writes go on; changes wait in the queue.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().post(LocalAPIPaths.pauseSync).body
        try options.show(answer) { _ in "paused; continue with repairminder-sync resume\n" }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continue syncing after a pause.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client().post(LocalAPIPaths.resumeSync).body
        try options.show(answer) { _ in "resumed\n" }
    }
}

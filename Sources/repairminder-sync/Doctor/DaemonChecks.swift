import Glibc
import LocalAPI

/// Asks the running daemon for its status, which every caller may read.
struct DaemonChecks {
    let configuration: Configuration
    /// Where the packaged daemon's socket is; nil for one that an explicit configuration describes.
    let systemSocket: String?

    private static let check = "daemon"

    func findings() async -> [Finding] {
        do {
            let client = try ConnectionOptions.configured(configuration.place, systemSocket: systemSocket)
                .client(deadline: .seconds(10))
            return try await client.get(LocalAPIPaths.status).body.map {
                StatusChecks(status: $0, configuration: configuration).findings()
            } ?? []
        } catch {
            return CommandFailure(any: error).map { [notReached($0)] } ?? []
        }
    }

    private func notReached(_ failure: CommandFailure) -> Finding {
        switch failure.status {
        case .notAllowed: .error(Self.check, failure.message, "then run \(configuration.command("doctor")) again")
        case .unreachable: .warning(Self.check, failure.brief, "run \(configuration.startCommand())")
        default: .error(Self.check, failure.message, "run \(configuration.command("status"))")
        }
    }
}

import Glibc
import JSONText
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
            return try await client.get(LocalAPIPaths.status).body.map(Self.findings(in:)) ?? []
        } catch let failure as CommandFailure {
            return [notReached(failure)]
        } catch let error as LocalAPIError {
            return [notReached(CommandFailure(error))]
        } catch {
            return []
        }
    }

    /// The daemon's state, what it still needs, and its warnings.
    static func findings(in status: JSONText) -> [Finding] {
        let missing = status["missing"]?.string
        let warnings = status["warnings"]?.elements.map(\.plain) ?? []
        return [summary(of: status)]
            + [missing].compactMap(\.self).map {
                .warning(check, $0, "see When nothing is configured in docs/guides/operating.md")
            } + warnings.map { .warning(check, $0, "see docs/config.md") }
    }

    private static func summary(of status: JSONText) -> Finding {
        let state = status["state"]?.plain ?? "unknown"
        let failed = status["failed"]?.integer ?? 0
        let text = "it runs: \(state), \(status["pending"]?.plain ?? "0") pending, \(failed) failed"
        guard let error = status["error"]?.string else {
            return failed == 0
                ? .ok(check, text) : .warning(check, text, "run repairminder-sync queue --state failed")
        }
        return .warning(check, "\(text); \(error)", "run repairminder-sync status")
    }

    private func notReached(_ failure: CommandFailure) -> Finding {
        switch failure.status {
        case .notAllowed: .error(Self.check, failure.message, "then run repairminder-sync doctor again")
        case .unreachable:
            .warning(Self.check, failure.message, "run \(configuration.startCommand())")
        default: .error(Self.check, failure.message, "run repairminder-sync status")
        }
    }
}

package import JSONText
internal import SocketServer

/// `GET /v1/_doctor`: what the daemon finds when it checks itself and its machine.
extension Handlers {
    func findings() async throws -> Response {
        let findings = await parts.doctor(try await statusDocument())
        return .document(.object(["data": .array(findings)]))
    }
}

/// Checks the machine, given the status, and returns the findings as they are answered: `check`, `level` (`ok`, `warning` or
/// `error`), `message`, and `advice` or null. Quick; never sends anything.
package typealias Doctor = @Sendable (_ status: JSONText) async -> [JSONText]

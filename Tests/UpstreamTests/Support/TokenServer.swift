import Foundation
import JSONText
import Synchronization
import TestSupport

@testable import EntitySchema
@testable import Upstream

/// An upstream with a clock, one user, and tokens that expire into empty answers: what a caller without a token gets is
/// 200 with an empty list, 404 for a record and 400 for a change.
final class TokenServer: Sendable {
    struct State {
        var now = Timestamp.sample
        var password = "right"
        var life = Duration.seconds(10)
        var valid: [String: Timestamp] = [:]
        var given = 0
        var orders: Set<String> = ["o1", "o2"]
        /// Whether a list says 401 to a caller without a token.
        var isStrict = false
        /// Answers instead of the server's own, for one path each.
        var answers: [String: HTTPResponse] = [:]
        /// The server's clock minus this machine's.
        var ahead = Duration.zero
    }

    let state = Mutex(State())
    private let log = Mutex<[HTTPRequest]>([])

    var now: Timestamp { state.withLock { $0.now } }

    func advance(_ duration: Duration) { state.withLock { $0.now = $0.now + duration } }

    func revoke() { state.withLock { $0.valid = [:] } }

    func calls(_ path: String) -> [HTTPRequest] {
        log.withLock { $0.filter { $0.url.hasSuffix(path) } }
    }

    var requests: [HTTPRequest] { log.withLock { $0 } }

    var transport: ScriptedTransport {
        ScriptedTransport { [self] request throws(TransportError) in
            log.withLock { $0.append(request) }
            return state.withLock { Self.answer(request, &$0) }
        }
    }

    private static func answer(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let path = String(request.url.dropFirst("https://shop.example".count))
        if let answer = state.answers[path] { return answer }
        let token = request.header("Authorization").map { String($0.dropFirst("Bearer ".count)) }
        let isKnown = token.flatMap { state.valid[$0] }.map { $0 > state.now } ?? false
        switch (request.method, path) {
        case ("POST", "/sign-in"):
            guard request.json?["password"]?.string == state.password else {
                return .json(400, #"{"message":"wrong: \#(request.json?["password"]?.plain ?? "")"}"#)
            }
            return give(&state)
        case ("POST", "/refresh"): return isKnown ? give(&state) : .json(401, "{}")
        case ("GET", "/me"): return isKnown ? .json(200, #"{"id":"u1"}"#) : .json(200, #"{"id":null}"#)
        case ("GET", "/strict"): return isKnown ? .json(200, #"{"id":"u1"}"#) : .json(401, "{}")
        case ("GET", "/orders") where state.isStrict && !isKnown: return .json(401, "{}")
        case ("GET", "/orders"):
            let rows = isKnown ? state.orders.sorted().map { #"{"id":"\#($0)"}"# } : []
            return .json(200, "[\(rows.joined(separator: ","))]")
        case ("GET", _):
            let key = String(path.dropFirst("/orders/".count))
            return isKnown && state.orders.contains(key) ? .json(200, #"{"id":"\#(key)"}"#) : .json(404, "{}")
        case ("DELETE", _):
            let key = String(path.dropFirst("/orders/".count))
            return isKnown && state.orders.remove(key) != nil ? HTTPResponse(status: 204) : .json(404, "{}")
        default: return isKnown ? .json(200, #"{"id":"o1"}"#) : .json(400, #"{"message":"Failed to update."}"#)
        }
    }

    private static func give(_ state: inout State) -> HTTPResponse {
        state.given += 1
        let end = state.now + state.life
        let token = jwt(until: end + state.ahead, number: state.given)
        state.valid[token] = end
        return .json(200, #"{"token":"\#(token)"}"#)
    }

    static func jwt(until end: Timestamp, number: Int) -> String {
        let claims = #"{"exp":\#(end.milliseconds / 1000),"n":\#(number)}"#
        let text = Data(claims.utf8).base64EncodedString().filter { $0 != "=" }
        return "e30.\(text).c2ln"
    }

    static let schema = """
        schema: shop
        upstream:
          base_url: https://shop.example
          auth:
            session: { call: POST /sign-in, body: { user: ada, password: "{$secret.password}" }, token: token, expires: jwt }
            check: { call: GET /me, account: id }
        entities:
          orders:
            fields: { id: { type: string }, name: { type: string } }
            pull: { path: /orders }
            push:
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
        """
}

import JSONText
import Synchronization

@testable import Upstream

/// A server in memory whose answers have a form of their own: `answer` gets each call and the records, by their keys.
final class ShapedServer: HTTPTransport {
    struct Call: Sendable {
        var method: String
        var path: String
        var body: JSONText

        /// The last segment of the path.
        var key: String { path.split(separator: "/").last.map(String.init) ?? "" }
    }

    typealias Records = [String: JSONText]
    typealias Answer = @Sendable (Call, inout Records) -> (status: Int, body: JSONText)

    private let state: Mutex<(records: Records, calls: [Call])>
    private let answer: Answer

    init(_ records: Records, _ answer: @escaping Answer) {
        state = Mutex((records, []))
        self.answer = answer
    }

    /// The changes that have arrived.
    var changes: [Call] { state.withLock { $0.calls.filter { $0.method != "GET" } } }
    var calls: [Call] { state.withLock { $0.calls } }

    var records: Records {
        get { state.withLock { $0.records } }
        set { state.withLock { $0.records = newValue } }
    }

    func remove(_ key: String) { state.withLock { _ = $0.records.removeValue(forKey: key) } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let path = String(request.url.dropFirst("http://shop".count).prefix { $0 != "?" })
        let body = request.body.flatMap { try? JSONText($0) } ?? .null
        return state.withLock { state in
            let call = Call(method: request.method, path: path, body: body)
            state.calls.append(call)
            let (status, body) = answer(call, &state.records)
            return HTTPResponse(status: status, body: Array(body.bytes))
        }
    }
}

extension ShapedServer.Records {
    /// In the order of their keys.
    func served(_ form: (String, JSONText) -> JSONText) -> JSONText {
        .array(sorted { $0.key < $1.key }.map { form($0.key, $0.value) })
    }
}

package import ReferenceUpstream
import SocketServer
package import Upstream

/// Passes requests to a reference upstream without a socket. Its address is `http://localhost`.
package struct CallTransport: HTTPTransport {
    let reference: ReferenceUpstream

    package init(reference: ReferenceUpstream) { self.reference = reference }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        var headers = Headers()
        for header in request.headers { headers.append(name: header.name, value: header.value) }
        let target = request.url.dropFirst("http://localhost".count).split(separator: "?", maxSplits: 1)
        let call = Request(
            method: request.method, path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            headers: headers, body: request.body ?? [])
        let response: Response
        do throws(BrokenExchange) {
            response = try await reference.exchange(call)
        } catch {
            throw error == .refused ? .unreachable("refused") : .ambiguous("no answer")
        }
        guard case .complete = response.ending, case .bytes(let body) = response.body else {
            throw .ambiguous("cut off")
        }
        return HTTPResponse(
            status: response.status, headers: response.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
    }
}

internal import EntitySchema
internal import JSONText

/// Fetching what records have besides their fields, from wherever they say.
///
/// The upstream's own address is asked as for anything else. Any other host is asked as a stranger would ask it, without
/// credentials, and only where everybody could reach it, so that no record can have this machine's neighbours asked.
/// Redirects are followed nowhere.
extension HTTPUpstream {
    package func serves(_ address: String) -> Bool { ownPath(of: address) != nil }

    package func download(
        _ address: String, limit: Int, into sink: BodySink
    ) async throws(UpstreamError) -> String? {
        let transfer = Transfer(sink: sink, limit: limit)
        let accept = [HTTPHeader("Accept", "*/*")]
        guard let path = ownPath(of: address) else { return try await elsewhere(address, accept, transfer) }
        return try await send("GET", path, headers: accept, body: nil, transfer: transfer).header("Content-Type")
    }

    private func ownPath(of address: String) -> String? { base?.path(of: address, from: "/") }

    private var base: BaseAddress? { caller.baseURL.map { BaseAddress($0) } }

    private func elsewhere(
        _ address: String, _ headers: [HTTPHeader], _ transfer: Transfer
    ) async throws(UpstreamError) -> String? {
        var request = HTTPRequest(url: address, headers: headers, deadline: caller.deadline)
        transfer.apply(to: &request)
        // Where the upstream is a neighbour itself, so may be what its records name.
        request.isPublicOnly = base?.isLoopback != true
        let response: HTTPResponse
        do {
            response = try await caller.transport.send(request)
        } catch {
            switch error {
            case .unreachable(let message), .ambiguous(let message): throw .unclear(status: nil, message)
            case .unacceptable(let message): throw .malformed(message)
            case .cancelled: throw .cancelled
            }
        }
        guard (200..<300).contains(response.status) else {
            let message = "\(request.host) answered \(response.status)"
            throw response.status == 404 || response.status == 410
                ? .gone(status: response.status, message) : .unclear(status: response.status, message)
        }
        return response.header("Content-Type")
    }
}

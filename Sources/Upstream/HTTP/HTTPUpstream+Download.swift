internal import EntitySchema
internal import JSONText

/// Downloads of content from the addresses that records name.
///
/// The upstream's own address is asked with credentials, like for anything else. Any other host is asked without
/// credentials and only at a public address, so no record can make this machine query its neighbours. Redirects are
/// never followed.
extension HTTPUpstream {
    package func serves(_ address: String) -> Bool { ownPath(of: address) != nil }

    package func download(
        _ address: String, limit: Int, into sink: BodySink
    ) async throws(UpstreamError) -> String? {
        let transfer = Transfer(sink: sink, limit: limit)
        guard let path = ownPath(of: address) else { return try await downloadElsewhere(address, transfer) }
        return try await send(.download(path), transfer: transfer).header("Content-Type")
    }

    private func ownPath(of address: String) -> String? { base?.path(of: address, from: "/") }

    private var base: BaseAddress? { caller.baseURL.map { BaseAddress($0) } }

    /// The address without user and password: a record must not choose the credentials of a request.
    static func withoutUser(_ address: String) -> String {
        guard let start = address.firstRange(of: "://")?.upperBound else { return address }
        let authority = address[start...].prefix { !"/?#\\".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return address }
        return String(address[..<start] + address[at...].dropFirst())
    }

    private func downloadElsewhere(_ address: String, _ transfer: Transfer) async throws(UpstreamError) -> String? {
        guard allowsPlainHTTP || !PlainHTTP.leavesMachine(address) else {
            throw .refused(
                status: nil,
                "nothing was fetched from an http address on another machine; correct the record's address to https, or "
                    + "set upstream.allow_plain_http")
        }
        var request = HTTPRequest(.download(Self.withoutUser(address)), deadline: caller.deadline)
        transfer.apply(to: &request)
        // If the upstream itself is local, the addresses in its records may be local too.
        request.isPublicOnly = base?.isLoopback != true
        let response: HTTPResponse
        do {
            response = try await caller.transport.send(request)
        } catch {
            switch error {
            case .unsendable(let message): throw .refused(status: nil, message)
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

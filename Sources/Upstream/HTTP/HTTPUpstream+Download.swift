internal import EntitySchema
internal import JSONText

/// Where content may be fetched from, besides the upstream's own address.
package struct ContentOrigins: Sendable {
    /// Whether content is fetched from any other address.
    var allowsElsewhere: Bool
    /// Whether content may be fetched from another machine unencrypted.
    var allowsPlainHTTP: Bool

    package init(allowsElsewhere: Bool = true, allowsPlainHTTP: Bool = false) {
        self.allowsElsewhere = allowsElsewhere
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// Downloads of content from the addresses that records name.
///
/// The upstream's own address is asked with credentials, like for anything else. Any other host is asked without
/// credentials and only at a public address, so no record can make this machine query its neighbours; an upstream on this
/// machine may name other programs here. Redirects are never followed.
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

    /// The address on another host as it is asked: without user and password, because a record must not choose the
    /// credentials of a request. Nil for text that libcurl would read in a way of its own, such as `http:/host`, or a
    /// backslash before the host.
    private func addressElsewhere(_ text: String) -> String? {
        // A reference without a scheme has the upstream's (RFC 3986, 5.2.2).
        let address = text.hasPrefix("//") ? "\(base?.scheme ?? "https"):\(text)" : text
        // By bytes, as libcurl reads it: a combining mark would hide the sign before it.
        let bytes = address.utf8
        let known = ["https://", "http://"].first { Substring(bytes.prefix($0.utf8.count)).lowercased() == $0 }
        guard let scheme = known else { return nil }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        guard !host.isEmpty, !authority.contains(UInt8(ascii: "\\")) else { return nil }
        return scheme + String(Substring(host)) + String(Substring(rest[authority.endIndex...]))
    }

    private func downloadElsewhere(_ text: String, _ transfer: Transfer) async throws(UpstreamError) -> String? {
        guard contents.allowsElsewhere else {
            throw .refused(status: nil, "nothing was fetched, because a sample has no contents at other addresses")
        }
        guard let address = addressElsewhere(text) else {
            throw .refused(
                status: nil,
                "nothing was fetched, because the record's address is none that can be asked; correct it to https://, a "
                    + "host and a path")
        }
        guard contents.allowsPlainHTTP || !PlainHTTP.leavesMachine(address) else {
            throw .refused(
                status: nil,
                "nothing was fetched from an http address on another machine; correct the record's address to https, or "
                    + "set upstream.allow_plain_http")
        }
        var request = HTTPRequest(.download(address), deadline: caller.deadline)
        transfer.apply(to: &request)
        request.isPublicOnly = true
        request.mayReachThisMachine = base?.isLoopback == true
        let response: HTTPResponse
        do {
            response = try await caller.transport.send(request)
        } catch .unreachable(let message) {
            // It says nothing about whether the upstream can be reached.
            throw .unclear(status: nil, message)
        } catch {
            throw UpstreamError(error)
        }
        guard (200..<300).contains(response.status) else {
            let message = "\(request.host) answered \(response.status)"
            throw response.status == 404 || response.status == 410
                ? .gone(status: response.status, message) : .unclear(status: response.status, message)
        }
        return response.header("Content-Type")
    }
}

internal import CCurl

/// The settings that all requests of one transport share: see `CurlTransport.init`.
struct CurlOptions: Sendable {
    let userAgent: String
    let unixSocketPath: String?
    let caFile: String?
    let certificate: (file: String, keyFile: String)?
    let localAddresses: @Sendable () -> Set<String>?
    let isLinkDown: @Sendable (UnsafeRawPointer) -> Bool
    let ownAddresses: [(address: String, port: UInt16)]
    let answerLimit: Int
    let refusal: (@Sendable (_ descriptor: Int32) -> String?)?

    func apply(to easy: inout CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_USERAGENT, userAgent)
        if let unixSocketPath { try easy.set(CURLOPT_UNIX_SOCKET_PATH, unixSocketPath) }
        // An empty text, unlike nil, makes libcurl ignore http_proxy and similar variables.
        try easy.set(CURLOPT_PROXY, "")
        try applySecurity(to: easy)
        try applyProtocol(to: easy)
    }

    private func applySecurity(to easy: borrowing CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let caFile {
            try easy.set(CURLOPT_CAINFO, caFile)
            try easy.set(CURLOPT_CAPATH, String?.none)
        }
        if let certificate {
            try easy.set(CURLOPT_SSLCERT, certificate.file)
            try easy.set(CURLOPT_SSLKEY, certificate.keyFile)
        }
    }

    private func applyProtocol(to easy: borrowing CurlEasy) throws(TransportError) {
        // Of HTTP/2, libcurl does not say that a request was refused unread, and takes a body for whole whose stream was reset
        // without an error.
        try easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        try easy.set(CURLOPT_ACCEPT_ENCODING, HTTPResponse.decodedCodings.joined(separator: ", "))
        // libcurl decodes all that it has read, and keeps it while the answer waits for memory: 4 MiB at most of so much.
        try easy.set(CURLOPT_BUFFERSIZE, 4096)
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        // Otherwise a cancelled or late request would block all others until its name lookup ended. What remains is one
        // thread inside getaddrinfo, which cleans up after itself.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
    }
}

extension HTTPRequest {
    /// The longest time for connecting, however far away the deadline is.
    private static let connectLimit = Duration.seconds(10)

    /// Sets the options of this request; `refusal` must be nil.
    func apply(to easy: inout CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_URL, url)
        try setDeadline(deadline, of: easy)
        if mustBeWhole || isEndless { try easy.set(CURLOPT_ACCEPT_ENCODING, "identity") }
        if let stall {
            try easy.set(CURLOPT_LOW_SPEED_LIMIT, 1)
            try easy.set(CURLOPT_LOW_SPEED_TIME, max(1, Int(stall.components.seconds)))
        }
        try applyMethod(to: easy)
        try easy.setHeaderLines(headerLines)
    }

    /// Counts from the moment libcurl starts the request.
    func setDeadline(_ deadline: Duration, of easy: borrowing CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_TIMEOUT_MS, deadline.curlMilliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, min(deadline, Self.connectLimit).curlMilliseconds)
    }

    private func applyMethod(to easy: borrowing CurlEasy) throws(TransportError) {
        if method == "HEAD" {
            return try easy.set(CURLOPT_NOBODY, 1)
        }
        // 0 would mean no limit, and a HEAD response announces a body that never comes.
        if maximumBody > 0 { try easy.set(CURLOPT_MAXFILESIZE_LARGE, size: maximumBody) }
        if let source {
            try easy.set(CURLOPT_UPLOAD, 1)
            try easy.set(CURLOPT_INFILESIZE_LARGE, size: source.size)
        } else if let body = body ?? emptyBody {
            try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, size: body.count)
            try easy.set(CURLOPT_COPYPOSTFIELDS, body)
        }
        try easy.set(CURLOPT_CUSTOMREQUEST, method)
    }

    /// RFC 9110, 8.6: these methods send `Content-Length: 0` when they have no body.
    private var emptyBody: [UInt8]? { ["POST", "PUT", "PATCH"].contains(method) ? [] : nil }

    private var headerLines: [String] {
        var lines = headers.map { header in
            // `Name:` would remove the header; a semicolon sends it empty.
            header.value.utf8.allSatisfy(HTTPSyntax.isBlank) ? "\(header.name);" : "\(header.name): \(header.value)"
        }
        // No waiting for 100-continue, and no form type that libcurl would add.
        lines.append("Expect:")
        if !hasHeader("Content-Type") { lines.append("Content-Type:") }
        return lines
    }
}

extension Duration {
    /// At least 1, because 0 means no limit to libcurl, and at most its largest value.
    fileprivate var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

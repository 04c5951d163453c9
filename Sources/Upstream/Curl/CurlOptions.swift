internal import CCurl

/// What every request of one transport has in common.
struct CurlOptions: Sendable {
    let userAgent: String
    /// Every request goes over this Unix socket, whatever its URL's host.
    let unixSocketPath: String?
    /// PEM certificates trusted instead of the system's.
    let caFile: String?
    /// A proxy's URL; nil goes straight, whatever the environment says.
    let proxy: String?
    /// Nil where they cannot be told.
    let localAddresses: @Sendable () -> Set<String>?
    /// Of a `sockaddr`.
    let isLinkDown: @Sendable (UnsafeRawPointer) -> Bool

    func apply(to easy: inout CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_USERAGENT, userAgent)
        if let unixSocketPath { try easy.set(CURLOPT_UNIX_SOCKET_PATH, unixSocketPath) }
        // An empty text, unlike none, keeps http_proxy and its like from counting.
        try easy.set(CURLOPT_PROXY, proxy ?? "")
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
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
    }

    private func applyProtocol(to easy: borrowing CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        // Empty: all encodings this libcurl can undo.
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        // Else a cancelled or late request would hold up all others until its name look-up ended. What is left behind is
        // one thread inside getaddrinfo, which frees itself.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
    }
}

extension HTTPRequest {
    /// Connecting takes at most this long, however far off the deadline is.
    private static let connectLimit = Duration.seconds(10)

    /// Sets what is this request's own; `refusal` must be nil.
    func apply(to easy: inout CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_URL, url)
        try setDeadline(deadline, of: easy)
        if let stall {
            try easy.set(CURLOPT_LOW_SPEED_LIMIT, 1)
            try easy.set(CURLOPT_LOW_SPEED_TIME, max(1, Int(stall.components.seconds)))
        }
        try applyMethod(to: easy)
        try easy.setHeaderLines(headerLines)
    }

    /// From when libcurl takes the request up.
    func setDeadline(_ deadline: Duration, of easy: borrowing CurlEasy) throws(TransportError) {
        try easy.set(CURLOPT_TIMEOUT_MS, deadline.curlMilliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, min(deadline, Self.connectLimit).curlMilliseconds)
    }

    private func applyMethod(to easy: borrowing CurlEasy) throws(TransportError) {
        if method == "HEAD" {
            return try easy.set(CURLOPT_NOBODY, 1)
        }
        // 0 would mean no limit, and HEAD announces a body that never comes.
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

    /// RFC 9110, 8.6: these methods say `Content-Length: 0` when they carry nothing.
    private var emptyBody: [UInt8]? { ["POST", "PUT", "PATCH"].contains(method) ? [] : nil }

    private var headerLines: [String] {
        var lines = headers.map { header in
            // `Name:` would take the header away; a semicolon sends it empty.
            header.value.utf8.allSatisfy(HTTPSyntax.isBlank) ? "\(header.name);" : "\(header.name): \(header.value)"
        }
        // Neither a wait for 100-continue nor libcurl's guess at a form.
        lines.append("Expect:")
        if !hasHeader("Content-Type") { lines.append("Content-Type:") }
        return lines
    }
}

extension Duration {
    /// At least 1, as 0 means no limit to libcurl, and at most what it can count.
    fileprivate var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

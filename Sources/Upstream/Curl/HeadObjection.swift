internal import JSONText

/// Why the body of a response must not be used, judged by its head; the text says what to do.
///
/// A stream must not be compressed. Where it matters, a truncated body must be recognisable. Content is requested
/// uncompressed, because the end of a compressed body is not checked; if it is stored compressed, its length is
/// checked.
enum HeadObjection {
    /// Nil if the body may be used. `isKept`: the response is not a failure, and its body goes into the request's sink.
    static func text(to head: HTTPResponse, of request: HTTPRequest, isKept: Bool) -> String? {
        (isKept ? cut(head, request) : nil) ?? head.undecodedCodings.map(unasked)
            ?? head.differingLengths.map(differing)
    }

    private static func cut(_ head: HTTPResponse, _ request: HTTPRequest) -> String? {
        if request.isEndless, head.isCompressed { return compressedStream }
        guard request.mustBeWhole else { return nil }
        guard [200, 203].contains(head.status) else { return notWhole(head.status) }
        if head.isCompressed { return head.hasLength ? nil : compressed }
        return head.hasEnd ? nil : endless
    }

    private static func unasked(_ coding: String) -> String {
        """
        its body is encoded as \(coding.cut(toBytes: 40)), which was not asked for; make the server, or the proxy in \
        front of it, send gzip or no encoding
        """
    }

    private static func differing(_ lengths: String) -> String {
        "it has more than one length (\(lengths.cut(toBytes: 40))), so the end of its body is uncertain (RFC 9112, 6.3)"
    }

    private static func notWhole(_ status: Int) -> String {
        "it has status \(status), so its body may be only a part, or not the content; only 200 and 203 are accepted"
    }

    private static let compressedStream = """
        it is compressed although it was requested uncompressed; make the server, or the proxy in front of it, send \
        event streams uncompressed
        """
    private static let compressed = """
        it was compressed on the way although it was requested uncompressed, so a truncated body would look complete; \
        make the server, or the proxy in front of it, send content uncompressed or with Content-Length
        """
    private static let endless = """
        it has neither a length nor chunks, so a truncated body would look complete; make the server, or the proxy in \
        front of it, send content with Content-Length
        """
}

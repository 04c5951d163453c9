internal import JSONText

/// Why nothing of a response's body may be taken, found in its head; the text says what to do.
///
/// A stream must not be compressed, and where it matters, a body that was cut must differ from a whole one. Content is asked
/// for uncompressed, because the end of a compressed body is not checked. One that is stored compressed has its length,
/// which is.
enum HeadObjection {
    /// Nil if the body may be taken. `isKept`: it is no failure, and goes into the sink of the request.
    static func text(to head: HTTPResponse, of request: HTTPRequest, isKept: Bool, isHTTP2: Bool) -> String? {
        (isKept ? cut(head, request, isHTTP2: isHTTP2) : nil) ?? head.undecodedCodings.map(unasked)
            ?? head.differingLengths.map(differing)
    }

    private static func cut(_ head: HTTPResponse, _ request: HTTPRequest, isHTTP2: Bool) -> String? {
        if request.isEndless, head.isCompressed { return compressedStream }
        guard request.mustBeWhole else { return nil }
        guard [200, 203].contains(head.status) else { return notWhole(head.status) }
        if head.isCompressed { return head.hasLength ? nil : compressed }
        return head.hasEnd(isHTTP2: isHTTP2) ? nil : endless
    }

    private static func unasked(_ coding: String) -> String {
        """
        its body is coded as \(coding.cut(toBytes: 40)), which was not asked for; let the server, or the proxy before it, \
        send gzip or nothing
        """
    }

    private static func differing(_ lengths: String) -> String {
        "it has more than one length (\(lengths.cut(toBytes: 40))), so where its body ends is uncertain (RFC 9112, 6.3)"
    }

    private static func notWhole(_ status: Int) -> String {
        "it has status \(status), as a part or something else in place of the content has; only 200 and 203 count"
    }

    private static let compressedStream = """
        it is compressed although it was asked for uncompressed; let the server, or the proxy before it, send event streams \
        uncompressed
        """
    private static let compressed = """
        it was compressed on the way although it was asked for uncompressed, so a body that was cut could not be told from \
        a whole one; let the server, or the proxy before it, send content uncompressed or with Content-Length
        """
    private static let endless = """
        it has neither a length nor chunks, so a body that was cut could not be told from a whole one; let the server, or \
        the proxy before it, send content with Content-Length
        """
}

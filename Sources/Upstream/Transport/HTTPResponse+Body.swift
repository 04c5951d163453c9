internal import JSONText

/// What the body of a response is.
extension HTTPResponse {
    /// The body without a byte order mark, which some servers put before JSON (RFC 8259, 8.1).
    var text: ArraySlice<UInt8> {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    }

    /// The body as JSON in which every object names each member once.
    ///
    /// An answer is refused as a whole if its values would take a hundred megabytes to look at, or its texts minutes to compare.
    var unambiguousJSON: JSONText {
        get throws(JSONError) {
            try MarkRun.check(inJSON: text, upTo: MarkRun.longestUpstream)
            return try JSONText(unambiguous: text, atMost: Self.mostValues)
        }
    }

    /// A page of 10,000 records with 40 members each; a page of usual size has a twentieth of it.
    static let mostValues = 400_000

    /// True when there is nothing but space.
    var isBlank: Bool { firstSign == nil }

    /// The first byte that is no white space.
    private var firstSign: UInt8? { text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    /// Nil when the body is not JSON, or has more values or marks than `unambiguousJSON` may have.
    var json: JSONText? {
        guard !text.isEmpty, MarkRun.areShort(inJSON: text, upTo: MarkRun.longestUpstream) else { return nil }
        return try? JSONText(text, atMost: Self.mostValues)
    }

    /// Whether a body that is not JSON is a web page or other markup, by its first character or its type.
    var isMarkup: Bool {
        guard let firstSign else { return false }
        return firstSign == UInt8(ascii: "<") || mediaType.hasSuffix("html") || mediaType.hasSuffix("xml")
    }

    /// Whether markup in a response of this status means that something else than the upstream answered. Other statuses
    /// already say what to do: sign in, wait, send less, look for the record.
    var barsMarkup: Bool {
        switch status {
        case 401, 404, 408, 410, 412, 413, 414, 415, 425, 428, 429, 431, 500...510, 512...599: false
        default: true
        }
    }

    /// In lower case, without parameters; empty when there is none.
    var mediaType: String {
        let type = (header("Content-Type") ?? "").prefix { $0 != ";" }.lowercased()
        return String(type.filter { $0 != " " && $0 != "\t" })
    }

    var shownType: String { mediaType.isEmpty ? "no content type" : mediaType.cut(toScalars: 100) }

    /// ` (text/html): <!doctype html>…`: the type and the beginning of the body, for an error.
    func quote() -> String {
        " (\(shownType)): \(ErrorText.shortened(String(decoding: text.prefix(2000), as: UTF8.self), to: 200))"
    }

    /// Where a redirect points, without its query, which may hold a token.
    var redirectTarget: String? {
        filledHeader("Location").map { String($0.prefix { $0 != "?" && $0 != "#" }.start(scalars: 200)) }
    }
}

/// How the end of a response's body is known.
extension HTTPResponse {
    /// Whether the body has an end of its own, so that a cut is noticed: its length, its last chunk, or no body at all. Any
    /// other ends with its connection (RFC 9112, 6.3).
    var hasEnd: Bool {
        status == 204 || status == 205 || hasLength || codings("Transfer-Encoding").last == "chunked"
    }

    /// Whether a length says where the body ends; beside any transfer coding, it says nothing (RFC 9112, 6.3).
    var hasLength: Bool { header("Content-Length") != nil && header("Transfer-Encoding") == nil }

    /// The values of Content-Length if they differ: a proxy in between may end the body elsewhere than this side.
    var differingLengths: String? {
        let lengths = codings("Content-Length")
        return Set(lengths).count > 1 ? lengths.joined(separator: ", ") : nil
    }

    /// Whether the body came compressed: where such a body ends is not checked.
    var isCompressed: Bool { !bodyCodings.isEmpty }

    /// The codings that are asked for: a byte of theirs becomes at most 1,032 (RFC 1951), of others as many as they like.
    static let decodedCodings = ["gzip", "deflate"]

    /// The codings of the body if they were not asked for, or are more than one: a thousand bytes with one coding within
    /// another could keep libcurl's thread busy for hours.
    var undecodedCodings: String? {
        let codings = bodyCodings
        let isDecoded = codings.isEmpty || codings.count == 1 && (Self.decodedCodings + ["x-gzip"]).contains(codings[0])
        return isDecoded ? nil : codings.joined(separator: ", ")
    }

    /// The codings of the transfer count too, because libcurl decodes them as well.
    private var bodyCodings: [String] {
        (codings("Content-Encoding") + codings("Transfer-Encoding"))
            .filter { !["", "identity", "chunked"].contains($0) }
    }

    /// The elements of a field that is a list, in lower case, in order.
    private func codings(_ name: String) -> [String] {
        headers(named: name).flatMap { $0.lowercased().split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" } }
    }
}

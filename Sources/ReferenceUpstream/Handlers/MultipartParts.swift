internal import SocketServer

/// The parts of a multipart/form-data body (RFC 7578).
struct MultipartParts {
    struct Part {
        var name: String
        var isFile: Bool
        /// The media type; nil when the part names none.
        var type: String?
        var bytes: [UInt8]
    }

    private static let most = 100
    private static let longestHeaders = 8 << 10

    let parts: [Part]

    /// Throws for a body that is not such a form, saying what is wrong with it.
    init(_ request: Request) throws(Refusal) {
        guard let type = request.headers[single: "Content-Type"], type.lowercased().hasPrefix("multipart/form-data")
        else { throw Self.malformed("expected the Content-Type multipart/form-data") }
        let boundary = Self.parameter("boundary", of: type) ?? ""
        guard (1...70).contains(boundary.utf8.count) else {
            throw Self.malformed("the Content-Type names no boundary of 1 to 70 characters")
        }
        var rest = request.body[...]
        let mark = Array("--\(boundary)".utf8)
        guard rest.starts(with: mark) else { throw Self.malformed("the body does not begin with the boundary") }
        rest = rest.dropFirst(mark.count)
        var parts: [Part] = []
        while !rest.starts(with: Array("--".utf8)) {
            guard rest.starts(with: Self.line) else { throw Self.malformed("a boundary is not followed by a new line") }
            rest = rest.dropFirst(2)
            guard parts.count < Self.most else { throw Self.malformed("there are more than \(Self.most) parts") }
            guard let end = Self.position(of: Self.line + mark, in: rest) else {
                throw Self.malformed("the last boundary is missing, so the body may be cut off")
            }
            parts.append(try Self.part(rest[..<end]))
            rest = rest[(end + 2 + mark.count)...]
        }
        self.parts = parts
    }

    // MARK: One part

    private static let line = Array("\r\n".utf8)

    private static func part(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Part {
        guard let end = position(of: line + line, in: bytes.prefix(longestHeaders)) else {
            throw malformed("a part has no empty line after its header fields, or more than 8 KiB of them")
        }
        let headers = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map { line in
            (name: line.prefix { $0 != ":" }.lowercased(), value: line.drop { $0 != ":" }.dropFirst().trimmed)
        }
        guard let disposition = headers.first(where: { $0.name == "content-disposition" })?.value,
            disposition.lowercased().hasPrefix("form-data"), let name = parameter("name", of: disposition)
        else { throw malformed("a part has no Content-Disposition: form-data with a name") }
        return Part(
            name: name, isFile: parameter("filename", of: disposition) != nil,
            type: headers.first { $0.name == "content-type" }?.value, bytes: Array(bytes[(end + 4)...]))
    }

    /// A parameter of a header field, in quotes or without.
    private static func parameter(_ name: String, of value: String) -> String? {
        var isQuoted = false
        let parts = value.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, String(pair[0]).trimmed.lowercased() == name else { continue }
            let text = String(pair[1]).trimmed
            guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
            return String(text.dropFirst().dropLast()).replacing("%22", with: "\"").replacing("%0D", with: "\r")
                .replacing("%0A", with: "\n")
        }
        return nil
    }

    private static func position(of bytes: [UInt8], in slice: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first else { return nil }
        var start = slice.startIndex
        while let found = slice[start...].firstIndex(of: first) {
            if slice[found...].starts(with: bytes) { return found }
            start = found + 1
        }
        return nil
    }

    private static func malformed(_ problem: String) -> Refusal {
        Refusal(status: 400, code: "malformed_form", message: "\(problem); send one form with each field as a part")
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

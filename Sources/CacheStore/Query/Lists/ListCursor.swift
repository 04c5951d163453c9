internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The text form of a position in a list: base64url of a JSON array, marked with the list that it belongs to.
enum ListCursor {
    /// The most bytes that fit into a request line (8 KiB) with other parameters. A value from the server can be
    /// longer.
    static let longest = 6000
    /// This many bytes of text fit into a cursor, even if all must be escaped.
    static let mostText = 700

    /// Marks the cursors of one list: a hash of its parts, which is the same in every run.
    static func mark(of parts: [String]) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(128)
        for part in parts {
            name.append(name.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            JSONText.append(part, to: &name)
        }
        name.append(UInt8(ascii: "]"))
        // FNV-1a, since Swift's hashes differ from run to run.
        let hash = name.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Array(String(hash, radix: 36).utf8)
    }

    /// `mark`: the list's mark.
    static func text(_ position: [DatabaseValue], mark: [UInt8]) -> String {
        var json: [UInt8] = []
        json.reserveCapacity(96)
        json += "[\"".utf8
        json += mark
        json.append(UInt8(ascii: "\""))
        for value in position {
            json.append(UInt8(ascii: ","))
            append(value, to: &json)
        }
        json.append(UInt8(ascii: "]"))
        return base64url(json)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Without padding (RFC 4648, 5). Foundation's takes several times as long for a short text.
    private static func base64url(_ bytes: [UInt8]) -> String {
        let digits = Self.digits
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(bytes.count - start, 3)
            var word = UInt32(bytes[start]) << 16
            if count > 1 { word |= UInt32(bytes[start + 1]) << 8 }
            if count > 2 { word |= UInt32(bytes[start + 2]) }
            for place in 0...count { text.append(digits[Int(word >> UInt32(18 - 6 * place)) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for text that is not base64. Accepts both alphabets, and padding.
    private static func bytes(ofBase64 text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(text.count / 4 * 3 + 2)
            var (word, bits) = (UInt32(0), UInt32(0))
            for byte in text.prefix(text.count - padding(of: text)) {
                guard let digit = digit(byte) else { return nil }
                word = word << 6 | digit
                bits += 6
                guard bits >= 8 else { continue }
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
            return bits < 6 ? bytes : nil
        }
    }

    private static func padding(of text: UnsafeBufferPointer<UInt8>) -> Int {
        text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
        case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func append(_ value: DatabaseValue, to json: inout [UInt8]) {
        switch value.storage {
        case .int64(let number):
            json.append(UInt8(ascii: "["))
            json += String(number).utf8
            json.append(UInt8(ascii: "]"))
        // As text, because the shortest form of a double reads back as the same double.
        case .double(let number): json += Array("[\"\(number)\",true]".utf8)
        case .string(let text):
            json.append(UInt8(ascii: "["))
            JSONText.append(text, to: &json)
            json.append(UInt8(ascii: "]"))
        case .null, .blob: json += Array("null".utf8)
        }
    }

    /// A position of as many values. Throws for text that is not a cursor of this list.
    static func position(_ text: String, mark: [UInt8], columns: Int) throws(CacheError) -> [DatabaseValue] {
        guard let values = values(of: text, mark: mark), values.count == columns else {
            throw CacheError.badQuery(
                field: "cursor",
                message: elements(of: text)?.first?.string == nil
                    ? "this is no cursor; expected next of an earlier page, or no cursor for the first page"
                    : "this cursor belongs to another list; use it with the same filters and sort")
        }
        return values
    }

    /// The mark and the values of a cursor; nil for text that is none.
    private static func elements(of text: String) -> [JSONText]? {
        bytes(ofBase64: text).flatMap { try? JSONText($0) }?.elements
    }

    /// Nil for text that is not a cursor of this list.
    static func values(of text: String, mark: [UInt8]) -> [DatabaseValue]? {
        guard let elements = elements(of: text), let first = elements.first?.string, first.utf8.elementsEqual(mark)
        else { return nil }
        return elements.dropFirst().map { value in
            let parts = value.elements
            guard let first = parts.first else { return .null }
            if let number = first.integer { return Int64(number).databaseValue }
            let text = first.string ?? ""
            return parts.count > 1 ? Double(text).databaseValue : text.databaseValue
        }
    }
}

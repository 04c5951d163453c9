internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The text form of a position in a list: base64url of a JSON array, marked with the list that it belongs to.
enum ListCursor {
    /// What fits into a request's line (8 KiB) beside other parameters. The server may make any value longer.
    static let longest = 6000
    /// So many bytes of texts fit into a cursor however many of them have to be escaped.
    static let mostText = 700

    /// What distinguishes a list from others, from its parts.
    static func name(of parts: [String]) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(128)
        for part in parts {
            name.append(name.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            JSONText.append(part, to: &name)
        }
        name.append(UInt8(ascii: "]"))
        return name
    }

    /// `list`: its `name(of:)`.
    static func text(_ position: [DatabaseValue], list: [UInt8]) -> String {
        var json: [UInt8] = []
        json.reserveCapacity(96)
        json += "[\"".utf8
        json += mark(list).utf8
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
    static func position(_ text: String, list: [UInt8], columns: Int) throws(CacheError) -> [DatabaseValue] {
        guard let values = values(of: text, list: list), values.count == columns else {
            throw CacheError.badQuery(
                field: "cursor", message: "this cursor belongs to another list; use it with the same filters and sort"
            )
        }
        return values
    }

    /// Nil for text that is not a cursor of this list.
    static func values(of text: String, list: [UInt8]) -> [DatabaseValue]? {
        // Byte by byte, because `String` would go through all characters to replace two.
        var base64 = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        base64 += Array(repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(base64)), let json = try? JSONText([UInt8](data)),
            json.elements.first?.string == mark(list)
        else { return nil }
        return json.elements.dropFirst().map { value in
            let parts = value.elements
            guard let first = parts.first else { return .null }
            if let number = first.integer { return Int64(number).databaseValue }
            let text = first.string ?? ""
            return parts.count > 1 ? Double(text).databaseValue : text.databaseValue
        }
    }

    /// FNV-1a: unlike Swift's hashes, it is the same in every run.
    private static func mark(_ list: [UInt8]) -> String {
        let hash = list.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}

internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The text form of a position in a list: base64url of a JSON array, marked with the list that it belongs to.
enum ListCursor {
    static func text(_ position: [DatabaseValue], list: String) -> String {
        let values = position.map { value -> JSONText in
            switch value.storage {
            case .int64(let number): .array([.integer(Int(number))])
            // As text, because the shortest form of a double reads back as the same double.
            case .double(let number): .array([.string("\(number)"), true])
            case .string(let text): .array([.string(text)])
            case .null, .blob: .null
            }
        }
        let json = JSONText.array([.string(mark(list))] + values)
        let base64url = Data(json.bytes).base64EncodedData().compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: base64url, as: UTF8.self)
    }

    /// A position of as many values. Throws for text that is not a cursor of this list.
    static func position(_ text: String, list: String, columns: Int) throws(CacheError) -> [DatabaseValue] {
        guard let values = values(of: text, list: list), values.count == columns else {
            throw CacheError.badQuery(
                field: "cursor", message: "this cursor belongs to another list; use it with the same filters and sort"
            )
        }
        return values
    }

    /// Nil for text that is not a cursor of this list.
    static func values(of text: String, list: String) -> [DatabaseValue]? {
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
            guard let first = value.elements.first else { return .null }
            if let number = first.integer { return Int64(number).databaseValue }
            let text = first.string ?? ""
            return value.elements.count > 1 ? Double(text).databaseValue : text.databaseValue
        }
    }

    /// FNV-1a: unlike Swift's hashes, it is the same in every run.
    private static func mark(_ list: String) -> String {
        let hash = list.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}

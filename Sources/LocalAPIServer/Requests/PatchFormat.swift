internal import SocketServer

/// The formats of the body of a PATCH (RFC 5789).
enum PatchFormat {
    static let json = "application/json"
    /// Objects are merged into those of the record (RFC 7396).
    static let mergePatch = "application/merge-patch+json"

    /// Of a record, for `Accept-Patch`.
    static let ofRecords = "\(mergePatch), \(json)"

    /// Whether the body is a merge patch.
    static func isMergePatch(_ request: Request) -> Bool {
        guard let type = request.headers[single: "Content-Type"], type.utf8.count >= mergePatch.utf8.count else {
            return false
        }
        return mediaType(type) == mergePatch
    }

    /// A media type without its parameters, in lower case. Byte by byte, because `String` goes by characters.
    static func mediaType(_ field: String) -> String {
        let bytes = field.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
        return String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

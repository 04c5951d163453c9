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

    /// A media type without its parameters, in lower case.
    static func mediaType(_ field: String) -> String {
        field.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    }
}

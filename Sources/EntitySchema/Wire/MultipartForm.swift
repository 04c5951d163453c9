package import JSONText

/// A multipart/form-data body (RFC 7578): fields as text, and one file.
///
/// The same values under the same key make the same bytes, so a repeat of a request is recognised as one.
package struct MultipartForm: Sendable, Equatable {
    /// The parts before the file, without those that are null.
    private let texts: [(name: String, text: String)]
    private let file: String
    private let name: String
    private let fileType: String
    private let boundary: String

    /// Strings are sent as they are, other values as JSON. `file` is the name of the part with the file, `name` the
    /// file's own, `type` its media type.
    package init(
        fields: [(key: String, value: JSONText)], file: String, name: String, type: String, key: String
    ) {
        texts = fields.filter { $0.value.kind != .null }.map { ($0.key, $0.value.string ?? $0.value.text) }
        self.file = file
        self.name = name
        fileType = type
        boundary = Self.boundary(key, notIn: texts.flatMap { [$0.name, $0.text] })
    }

    package static func == (one: MultipartForm, other: MultipartForm) -> Bool {
        one.prefix == other.prefix && one.suffix == other.suffix
    }

    // MARK: On the wire

    /// The media type of the body, with its boundary.
    package var type: String { "multipart/form-data; boundary=\(boundary)" }

    /// Everything before the file's bytes.
    package var prefix: [UInt8] {
        var text = ""
        for part in texts {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(part.name))\"\r\n\r\n"
            text += "\(part.text)\r\n"
        }
        text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(file))\"; "
        text += "filename=\"\(Self.escaped(name))\"\r\nContent-Type: \(fileType)\r\n\r\n"
        return Array(text.utf8)
    }

    /// Everything after them.
    package var suffix: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// The parts as people see them; the file without its bytes.
    package func shown(_ content: Content?) -> JSONText {
        let shown = content.map { content in
            JSONText.object([
                "filename": .string(name), "type": .string(content.type), "size": .integer(content.size),
                "sha256": .string(content.sha256),
            ])
        }
        return .object(
            members: texts.map { (key: $0.name, value: JSONText.string($0.text)) } + [(file, shown ?? .null)])
    }

    // MARK: Parts

    /// As WHATWG HTML escapes names and file names (4.10.21.8).
    static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// At most 70 characters (RFC 2046, 5.1.1). The key is random, so the file's bytes do not contain it; the texts are
    /// looked through.
    private static func boundary(_ key: String, notIn texts: [String]) -> String {
        let safe = key.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        let first = "repairminder-sync-\(safe.prefix(40))"
        var boundary = first
        var count = 1
        while texts.contains(where: { $0.utf8.contains(boundary.utf8) }) {
            count += 1
            boundary = "\(first)-\(count)"
        }
        return boundary
    }

    /// The key and the usual extension of the type: `pho_1.jpg`. A key with characters that mean something in a path has
    /// others in their place.
    static func fileName(of key: String, type: String) -> String {
        let stem = String(key.map { "/\\:".contains($0) || $0.unicodeScalars.contains { $0.value < 0x20 } ? "_" : $0 })
        return "\(stem.isEmpty || stem.hasPrefix(".") ? "file\(stem)" : stem).\(extensions[type] ?? "bin")"
    }

    private static let extensions = [
        "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/heic": "heic",
        "image/heif": "heif", "image/avif": "avif", "image/tiff": "tiff", "image/bmp": "bmp", "image/svg+xml": "svg",
        "application/pdf": "pdf", "application/json": "json", "application/zip": "zip", "text/plain": "txt",
        "text/csv": "csv", "text/html": "html", "audio/mpeg": "mp3", "audio/mp4": "m4a", "video/mp4": "mp4",
        "video/quicktime": "mov", "video/webm": "webm",
    ]
}

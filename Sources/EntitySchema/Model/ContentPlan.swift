/// The bytes that belong to a record besides its fields, such as a picture, identified by their SHA-256.
package struct Content: Sendable, Hashable {
    /// 64 hexadecimal digits in lower case.
    package var sha256: String
    package var size: Int
    /// The media type: `image/jpeg`.
    package var type: String

    /// The media type of bytes of an unknown type (RFC 2046, 4.5.1).
    package static let unknownType = "application/octet-stream"

    package init(sha256: String, size: Int, type: String) {
        self.sha256 = sha256
        self.size = size
        self.type = type
    }

    /// Whether the text can be the `sha256` of a content. Names of files are made of it, so nothing else may pass.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    /// Whether the text can be the `type` of a content: a header has it as its value.
    package static func isType(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}

/// How the content of an entity's records is downloaded and uploaded.
package struct ContentPlan: Sendable, Equatable {
    /// The field with the address to download from; nil when there is none.
    package var address: String?
    /// The path to download from, below the upstream's address; nil when a field has the address.
    package var path: Template?
    /// Its request has the bytes as its body or in a part of it; nil when existing records keep their content.
    package var upload: PushRoute?
    package var delete: PushRoute?
    /// The allowed media types.
    package var types: [String]
    /// In bytes.
    package var maximumSize: Int
    /// The field that shows the state of an upload (`ContentState`).
    package var state: String?

    /// Whether the address may become another, so that the bytes have to be fetched again.
    package var mayMove: Bool { address != nil || path != nil }

    static let defaultTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"]
    static let defaultMaximumSize = 50 << 20
    /// The largest size that a schema may allow.
    static let largestSize = 1 << 40
}

/// The state of the upload of a record's content, as `ContentPlan.state` shows it.
package enum ContentState: String, Sendable, CaseIterable {
    case queued, uploading, uploaded, failed
}

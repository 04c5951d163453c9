/// What a record holds besides its fields: bytes such as a picture, known by their SHA-256.
package struct Content: Sendable, Hashable {
    /// 64 digits in lower case.
    package var sha256: String
    package var size: Int
    /// The media type: `image/jpeg`.
    package var type: String

    /// The media type of bytes that nobody knows anything of (RFC 2046, 4.5.1).
    package static let unknownType = "application/octet-stream"

    package init(sha256: String, size: Int, type: String) {
        self.sha256 = sha256
        self.size = size
        self.type = type
    }
}

/// How the content of an entity's records comes here and goes there.
package struct ContentPlan: Sendable, Equatable {
    /// The field with the address that content is fetched from; nil where none is.
    package var address: String?
    /// Takes the bytes as its body; without it content is only read.
    package var upload: PushRoute?
    package var delete: PushRoute?
    /// The media types that it may have.
    package var types: [String]
    /// In bytes.
    package var maximumSize: Int
    /// The field that tells how far an upload is, see `ContentState`.
    package var state: String?

    static let defaultTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"]
    static let defaultMaximumSize = 50 << 20
    /// The largest that a schema may allow.
    static let largestSize = 1 << 40
}

/// How far the upload of a record's content is, as `ContentPlan.state` shows it.
package enum ContentState: String, Sendable, CaseIterable {
    case queued, uploading, uploaded, failed

    /// Of a change in this state of the queue.
    package init(queueState: String) {
        self = queueState == "uploading" ? .uploading : queueState == "failed" ? .failed : .queued
    }
}

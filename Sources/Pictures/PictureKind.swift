/// The kinds of pictures with thumbnails, recognised by their first bytes.
package enum PictureKind: String, Sendable, CaseIterable {
    case jpeg, png, gif, webp

    /// The number of bytes needed to recognise a kind.
    package static let signatureLength = 16

    /// Nil for bytes that start like none of them.
    package init?(beginningWith bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(Self.signatureLength))
        if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if start.starts(with: "GIF87a".utf8) || start.starts(with: "GIF89a".utf8) {
            self = .gif
        } else if start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }

    package var mediaType: String { "image/\(rawValue)" }

    package init?(mediaType: String) {
        guard mediaType.hasPrefix("image/") else { return nil }
        self.init(rawValue: String(mediaType.dropFirst(6)))
    }

    /// The format of its thumbnails: JPEG stays small, PNG keeps transparency.
    package var thumbnailKind: PictureKind { self == .jpeg ? .jpeg : .png }
}

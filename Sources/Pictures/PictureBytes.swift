/// The bytes of an untrusted picture: every access is bounds-checked.
struct PictureBytes {
    let bytes: UnsafeRawBufferPointer

    enum Order { case big, little }

    func byte(_ at: Int) -> Int? {
        guard at >= 0, at < bytes.count else { return nil }
        return Int(bytes[at])
    }

    /// A number of `count` bytes, at most four.
    func number(_ at: Int, _ count: Int, _ order: Order) -> Int? {
        guard at >= 0, count <= 4, at <= bytes.count - count else { return nil }
        let part = bytes[at..<(at + count)].map(Int.init)
        return (order == .big ? part : part.reversed()).reduce(0) { $0 << 8 | $1 }
    }

    func has(_ text: String, at: Int) -> Bool {
        at >= 0 && at <= bytes.count - text.utf8.count && bytes[at...].starts(with: text.utf8)
    }
}

/// The segments of a JPEG before its picture data (ITU T.81, B.1.1), up to a limit.
struct JPEGSegments {
    let picture: PictureBytes

    struct Segment {
        var marker: Int
        var start: Int
        var length: Int
    }

    /// More segments than any camera writes.
    private static let most = 500

    var all: [Segment] {
        var segments: [Segment] = []
        var at = 2
        while segments.count < Self.most, picture.byte(at) == 0xFF, let marker = picture.byte(at + 1) {
            if marker == 0xFF {  // a fill byte
                at += 1
                continue
            }
            if marker == 0x01 || (0xD0...0xD8).contains(marker) {  // without a length
                at += 2
                continue
            }
            guard marker != 0xDA, marker != 0xD9, let length = picture.number(at + 2, 2, .big), length >= 2 else {
                break
            }
            segments.append(Segment(marker: marker, start: at + 4, length: length - 2))
            at += 2 + length
        }
        return segments
    }

    /// Width and height from the frame header.
    var size: PictureSize? {
        guard let frame, let height = picture.number(frame.start + 1, 2, .big),
            let width = picture.number(frame.start + 3, 2, .big)
        else { return nil }
        return PictureSize(width: width, height: height)
    }

    /// Whether the whole picture must be kept while it is decoded: SOF2, and the rarer progressive and lossless kinds.
    var isProgressive: Bool { frame.map { ![0xC0, 0xC1].contains($0.marker) } ?? true }

    /// SOF0 to SOF15, without the tables in that range.
    private var frame: Segment? {
        all.first { (0xC0...0xCF).contains($0.marker) && ![0xC4, 0xC8, 0xCC].contains($0.marker) }
    }
}

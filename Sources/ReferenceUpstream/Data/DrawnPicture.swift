internal import CZlib

/// A generated picture for a record without an upload: a gradient in colours that depend only on the seed.
struct DrawnPicture {
    let seed: String

    private static let width = 320
    private static let height = 240

    /// As PNG (RFC 2083): header, data, end.
    var png: [UInt8] {
        let header = Self.number(Self.width) + Self.number(Self.height) + [8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header)
            + Self.chunk("IDAT", Self.deflated(rows)) + Self.chunk("IEND", [])
    }

    /// Each row starts with its filter type, 0 for none.
    private var rows: [UInt8] {
        let hash = seed.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let (red, green, blue) = (Int(hash & 0xFF), Int(hash >> 8 & 0xFF), Int(hash >> 16 & 0xFF))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.height * (1 + 3 * Self.width))
        for y in 0..<Self.height {
            bytes.append(0)
            for x in 0..<Self.width {
                bytes.append(UInt8((red + x / 4) & 0xFF))
                bytes.append(UInt8((green + y / 4) & 0xFF))
                bytes.append(UInt8(blue))
            }
        }
        return bytes
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        return [UInt8](unsafeUninitializedCapacity: Int(size)) { space, count in
            let code = compress2(space.baseAddress, &size, bytes, uLong(bytes.count), 6)
            count = code == Z_OK ? Int(size) : 0
        }
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return number(data.count) + body + number(Int(crc32(0, body, uInt(body.count))))
    }

    private static func number(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

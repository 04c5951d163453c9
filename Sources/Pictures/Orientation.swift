/// How to turn a picture before showing it, as the camera recorded it (Exif 2.3, tag 0x0112).
enum Orientation: Int, CaseIterable {
    case upright = 1, mirrored, turned180, mirrored180, transposed, turned90, transversed, turned270

    /// Of a JPEG; upright when the tag is missing or invalid.
    init(of picture: PictureBytes) {
        self = .upright
        for segment in JPEGSegments(picture: picture).all where segment.marker == 0xE1 {
            guard picture.has("Exif\0\0", at: segment.start) else { continue }
            self = Self.read(picture, tiff: segment.start + 6) ?? .upright
            return
        }
    }

    /// Searches only the first directory, where the tag belongs.
    private static func read(_ picture: PictureBytes, tiff: Int) -> Orientation? {
        let order: PictureBytes.Order
        if picture.has("II*\0", at: tiff) {
            order = .little
        } else if picture.has("MM\0*", at: tiff) {
            order = .big
        } else {
            return nil
        }
        guard let offset = picture.number(tiff + 4, 4, order), let count = picture.number(tiff + offset, 2, order)
        else {
            return nil
        }
        for index in 0..<min(count, 512) {
            let entry = tiff + offset + 2 + 12 * index
            guard let tag = picture.number(entry, 2, order) else { return nil }
            guard tag == 0x0112, picture.number(entry + 2, 2, order) == 3 else { continue }
            return picture.number(entry + 8, 2, order).flatMap(Orientation.init(rawValue:))
        }
        return nil
    }

    var swapsSides: Bool { rawValue > 4 }

    /// The position in the stored picture of the pixel shown at `x`, `y`; `size` is that of the stored picture.
    func source(_ x: Int, _ y: Int, _ size: PictureSize) -> (x: Int, y: Int) {
        let (right, bottom) = (size.width - 1, size.height - 1)
        return switch self {
        case .upright: (x, y)
        case .mirrored: (right - x, y)
        case .turned180: (right - x, bottom - y)
        case .mirrored180: (x, bottom - y)
        case .transposed: (y, x)
        case .turned90: (y, bottom - x)
        case .transversed: (right - y, bottom - x)
        case .turned270: (right - y, x)
        }
    }
}

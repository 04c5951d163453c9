import CGD

/// Pictures for tests, drawn with the library that reads them.
enum PictureMaker {
    /// A picture of this size: left half red, right half blue, upper left quarter green.
    static func make(_ kind: String, width: Int = 80, height: Int = 40) -> [UInt8] {
        let image = gdImageCreateTrueColor(Int32(width), Int32(height))
        defer { gdImageDestroy(image) }
        let (right, bottom) = (Int32(width - 1), Int32(height - 1))
        gdImageFilledRectangle(image, 0, 0, right, bottom, 0x0000FF)
        gdImageFilledRectangle(image, 0, 0, Int32(width / 2 - 1), bottom, 0xFF0000)
        gdImageFilledRectangle(image, 0, 0, Int32(width / 2 - 1), Int32(height / 2 - 1), 0x00FF00)
        var count: Int32 = 0
        if kind == "progressive" { gdImageInterlace(image, 1) }
        let bytes =
            switch kind {
            case "jpeg", "progressive": gdImageJpegPtr(image, &count, 95)
            case "gif": gdImageGifPtr(image, &count)
            case "webp": gdImageWebpPtrEx(image, &count, 90)
            default: gdImagePngPtr(image, &count)
            }
        defer { gdFree(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    /// The JPEG with an Exif segment that has its orientation.
    static func oriented(_ orientation: UInt8, bigEndian: Bool = true) -> [UInt8] {
        let tiff: [UInt8] =
            bigEndian
            ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
            : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        let exif = Array("Exif\0\0".utf8) + tiff
        let segment: [UInt8] = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        let jpeg = make("jpeg")
        return Array(jpeg[..<2]) + segment + jpeg[2...]
    }

    struct Seen: Equatable {
        var width: Int
        var height: Int
        /// The corners' colours, clockwise from the upper left: r, g or b.
        var corners: String
    }

    /// The contents of a JPEG or PNG.
    static func look(at bytes: [UInt8]) -> Seen? {
        var bytes = bytes
        let count = Int32(bytes.count)
        let isPNG = bytes.starts(with: [0x89, 0x50])
        guard let image = isPNG ? gdImageCreateFromPngPtr(count, &bytes) : gdImageCreateFromJpegPtr(count, &bytes)
        else {
            return nil
        }
        defer { gdImageDestroy(image) }
        let (width, height) = (image.pointee.sx, image.pointee.sy)
        let places = [(2, 2), (width - 3, 2), (width - 3, height - 3), (2, height - 3)]
        let corners = places.map { x, y in
            let pixel = gdImageGetTrueColorPixel(image, Int32(x), Int32(y))
            let parts = [(pixel >> 16 & 0xFF, "r"), (pixel >> 8 & 0xFF, "g"), (pixel & 0xFF, "b")]
            return parts.max { $0.0 < $1.0 }?.1 ?? ""
        }
        return Seen(width: Int(width), height: Int(height), corners: corners.joined())
    }
}

internal import CGD
internal import Glibc

/// Makes a thumbnail of an untrusted picture with libgd. Runs only in a separate process (`ThumbnailProcess`), which
/// contains any damage that a picture does to the decoder.
struct PictureScaler {
    /// The pixels that fit into the process's memory; never more than a camera's 40 million.
    static func mostPixels(of kind: PictureKind, isProgressive: Bool) -> Int {
        // libgd keeps four bytes for a pixel. libjpeg adds six while it decodes a progressive JPEG; for PNG and WebP
        // libgd keeps the decoder's picture as well.
        let bytes =
            switch kind {
            case .jpeg: isProgressive ? 10 : 4
            case .png, .webp: 8
            case .gif: 4
            }
        return min(40_000_000, (ThumbnailProcess.memory - overhead) / bytes)
    }

    /// For the decoder's tables and the thumbnail.
    private static let overhead = 24 << 20

    /// Each scan of a JPEG is decoded over all pixels, however few bytes it has. Usual are one, or ten of a progressive one.
    private static let mostScans = 100

    /// The functions of libgd.
    let gd: cgd
    let bytes: UnsafeRawBufferPointer
    /// The thumbnail's longest side.
    let side: Int

    /// Calls `take` with the thumbnail's bytes. Throws when there is none.
    func scale(_ take: (UnsafeRawBufferPointer) -> Void) throws(PictureProblem) {
        let picture = PictureBytes(bytes: bytes)
        guard let kind = PictureKind(beginningWith: bytes), let claimed = PictureSize(of: picture, kind) else {
            throw .unreadable
        }
        let mostPixels = Self.mostPixels(
            of: kind, isProgressive: kind == .jpeg && JPEGSegments(picture: picture).isProgressive)
        guard claimed.pixels <= mostPixels else { throw .tooLarge }
        guard kind != .jpeg || !hasManyScans else { throw .tooLarge }
        guard let image = decoded(kind) else { throw .unreadable }
        defer { gd.gdImageDestroy(image) }
        let size = PictureSize(width: Int(image.pointee.sx), height: Int(image.pointee.sy))
        guard size.pixels <= mostPixels, let small = scaled(image, from: size) else { throw .tooLarge }
        defer { gd.gdImageDestroy(small) }
        let orientation = kind == .jpeg ? Orientation(of: picture) : .upright
        guard let upright = turned(small, orientation) else { throw .tooLarge }
        defer { if upright != small { gd.gdImageDestroy(upright) } }
        var count: Int32 = 0
        let encoded =
            kind.thumbnailKind == .jpeg ? gd.gdImageJpegPtr(upright, &count, 82) : gd.gdImagePngPtr(upright, &count)
        guard let encoded else { throw .unreadable }
        defer { gd.gdFree(encoded) }
        take(UnsafeRawBufferPointer(start: encoded, count: Int(count)))
    }

    /// Inside a scan's data the marker of another one cannot stand; a picture within the picture has few.
    private var hasManyScans: Bool {
        var (count, isMarker) = (0, false)
        for byte in bytes {
            if isMarker, byte == 0xDA { count += 1 }
            isMarker = byte == 0xFF
        }
        return count > Self.mostScans
    }

    private func decoded(_ kind: PictureKind) -> gdImagePtr? {
        guard bytes.count <= Int(Int32.max) else { return nil }
        let count = Int32(bytes.count)
        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        return switch kind {
        case .jpeg: gd.gdImageCreateFromJpegPtr(count, start)
        case .png: gd.gdImageCreateFromPngPtr(count, start)
        case .gif: gd.gdImageCreateFromGifPtr(count, start)
        case .webp: gd.gdImageCreateFromWebpPtr(count, start)
        }
    }

    /// Each pixel is the mean of the pixels it represents.
    private func scaled(_ image: gdImagePtr, from size: PictureSize) -> gdImagePtr? {
        let target = size.fitting(side)
        guard let small = canvas(target) else { return nil }
        gd.gdImageCopyResampled(
            small, image, 0, 0, 0, 0, Int32(target.width), Int32(target.height), Int32(size.width), Int32(size.height))
        return small
    }

    private func turned(_ image: gdImagePtr, _ orientation: Orientation) -> gdImagePtr? {
        guard orientation != .upright else { return image }
        let size = PictureSize(width: Int(image.pointee.sx), height: Int(image.pointee.sy))
        let turned = orientation.swapsSides ? PictureSize(width: size.height, height: size.width) : size
        guard let result = canvas(turned) else { return nil }
        for y in 0..<turned.height {
            for x in 0..<turned.width {
                let source = orientation.source(x, y, size)
                let pixel = gd.gdImageGetTrueColorPixel(image, Int32(source.x), Int32(source.y))
                gd.gdImageSetPixel(result, Int32(x), Int32(y), pixel)
            }
        }
        return result
    }

    private func canvas(_ size: PictureSize) -> gdImagePtr? {
        guard let image = gd.gdImageCreateTrueColor(Int32(size.width), Int32(size.height)) else { return nil }
        gd.gdImageAlphaBlending(image, 0)
        gd.gdImageSaveAlpha(image, 1)
        return image
    }
}

/// Why no thumbnail can be made; the raw value is the exit status of the process.
package enum PictureProblem: Int32, Error, Sendable {
    /// It is not a picture, is damaged, or is of an unknown kind.
    case unreadable = 65
    /// It has too many pixels, or takes too much memory or time.
    case tooLarge = 66
}

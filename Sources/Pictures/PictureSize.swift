/// Width and height, as the picture's header claims.
struct PictureSize: Equatable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Nil when the header is truncated or has no size.
    init?(of picture: PictureBytes, _ kind: PictureKind) {
        let size: PictureSize? =
            switch kind {
            case .jpeg: JPEGSegments(picture: picture).size
            case .png: Self.read(picture, 16, 20, 4, .big)
            case .gif: Self.read(picture, 6, 8, 2, .little)
            case .webp: Self.webp(picture)
            }
        guard let size, size.width > 0, size.height > 0 else { return nil }
        self = size
    }

    var pixels: Int { width.multipliedReportingOverflow(by: height).overflow ? .max : width * height }

    /// The largest of the same shape whose sides are at most `side`; never larger than this one.
    func fitting(_ side: Int) -> PictureSize {
        let longest = max(width, height)
        guard longest > side else { return self }
        return PictureSize(
            width: max(1, (width * side + longest / 2) / longest),
            height: max(1, (height * side + longest / 2) / longest))
    }

    private static func read(
        _ picture: PictureBytes, _ widthAt: Int, _ heightAt: Int, _ count: Int, _ order: PictureBytes.Order
    ) -> PictureSize? {
        guard let width = picture.number(widthAt, count, order), let height = picture.number(heightAt, count, order)
        else { return nil }
        return PictureSize(width: width, height: height)
    }

    /// RFC 9649: the extended header, else that of the lossless or the lossy bitstream (RFC 6386, 9.1).
    private static func webp(_ picture: PictureBytes) -> PictureSize? {
        if picture.has("VP8X", at: 12) {
            return read(picture, 24, 27, 3, .little).map { PictureSize(width: $0.width + 1, height: $0.height + 1) }
        }
        if picture.has("VP8L", at: 12), picture.byte(20) == 0x2F, let bits = picture.number(21, 4, .little) {
            return PictureSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        }
        guard picture.has("VP8 ", at: 12), let size = read(picture, 26, 28, 2, .little) else { return nil }
        return PictureSize(width: size.width & 0x3FFF, height: size.height & 0x3FFF)
    }
}

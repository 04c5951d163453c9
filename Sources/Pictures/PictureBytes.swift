/// The bytes of a picture that nobody vouches for: every look at them is checked, and beyond the end there is nothing.
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

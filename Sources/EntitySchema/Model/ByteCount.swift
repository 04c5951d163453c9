/// A number of bytes as people write it: a whole number and `B`, `KiB`, `MiB` or `GiB`.
package struct ByteCount: Sendable, Equatable {
    package var bytes: Int

    /// Nil for anything else, and for more than this machine can count.
    package init?(text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits),
            let shift = ["B": 0, "KiB": 10, "MiB": 20, "GiB": 30][text.dropFirst(digits.count)],
            number <= Int.max >> shift
        else { return nil }
        bytes = number << shift
    }
}

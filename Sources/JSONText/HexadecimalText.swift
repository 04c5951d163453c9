/// Hexadecimal digits, in lower case.
extension String {
    /// A number with zeros in front, so that it has at least `digits`.
    package init(hexadecimal number: some FixedWidthInteger, digits: Int) {
        let own = String(number, radix: 16)
        self = String(repeating: "0", count: Swift.max(0, digits - own.utf8.count)) + own
    }

    /// Two digits for each byte.
    package init(hexadecimal bytes: some Sequence<UInt8>) {
        self = bytes.map { String(hexadecimal: $0, digits: 2) }.joined()
    }
}

/// Bytes as text.
enum Hexadecimal {
    /// Two digits in lower case for each byte.
    static func text(of bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

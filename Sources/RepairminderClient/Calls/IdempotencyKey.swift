import Foundation

/// The name of one write: the daemon does it once, and answers each repeat as it answered the first, for 24 hours.
///
/// The library makes one for each write and reuses it when it repeats the write. Make your own and store it if a write
/// must not be done twice even though your program may be restarted in between.
public struct IdempotencyKey: Sendable, Hashable, CustomStringConvertible {
    /// 1 to 255 visible ASCII characters.
    public let text: String

    /// A new key: a random UUID.
    ///
    /// Not `UUID()`, which on Linux opens a file for its random bytes: where no more can be open, all its values are the same.
    public init() {
        var random = SystemRandomNumberGenerator()
        let (first, second) = (random.next() as UInt64, random.next() as UInt64)
        // Version 4, and the variant of RFC 9562.
        let numbers = ((first & ~0xF000 | 0x4000).bigEndian, (second & ~(3 << 62) | 1 << 63).bigEndian)
        let uuid = withUnsafeBytes(of: numbers) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        text = uuid.uuidString.lowercased()
    }

    /// A key that you have stored, or made from what the write is about (`invoice-17-paid`); nil if it has a
    /// character other than visible ASCII, a comma, a semicolon or a quote, or is empty or over 255 characters.
    public init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !",;\"\\".utf8.contains($0) }
        guard isPlain, (1...255).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// The characters of the key.
    public var description: String { text }
}

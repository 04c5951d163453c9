internal import Glibc

/// Navigation in text that has been validated.
package enum CheckedJSON {
    /// The offset after the closing quote of the string that opens at `start`: the first quote after an even number of
    /// backslashes. The end of the text when there is none.
    package static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        var at = start + 1
        // Most strings are short: eight bytes at a time, their end is found before a call of `memchr` begins.
        let last = min(bytes.count - 8, at + 24)
        while at <= last {
            let word = UInt64(littleEndian: UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self))
            let marks = places(of: UInt8(ascii: "\""), in: word) | places(of: UInt8(ascii: "\\"), in: word)
            guard marks == 0 else {
                let end = at + marks.trailingZeroBitCount / 8
                if bytes[end] == UInt8(ascii: "\"") { return end + 1 }
                break
            }
            at += 8
        }
        return endOfString(bytes, base, searching: at)
    }

    /// Sets the highest bit of each byte that is `byte`. Bits above the lowest one set may be wrong.
    private static func places(of byte: UInt8, in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & (ones &* 0x80)
    }

    /// The same from a place inside the string that is not after a backslash.
    private static func endOfString(
        _ bytes: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>, searching start: Int
    ) -> Int {
        var at = start
        while at < bytes.count, let quote = memchr(base + at, 0x22, bytes.count - at) {
            let end = base.distance(to: quote.assumingMemoryBound(to: UInt8.self))
            var escape = end
            while escape > at, bytes[escape - 1] == UInt8(ascii: "\\") { escape -= 1 }
            at = end + 1
            if (end - escape).isMultiple(of: 2) { return at }
        }
        return bytes.count
    }

    /// What the inside of a string, `range` without its quotes, spells.
    static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
        let inside = UnsafeBufferPointer(rebasing: bytes[range])
        guard let base = inside.baseAddress, memchr(base, 0x5C, inside.count) != nil else {
            return String(decoding: inside, as: UTF8.self)
        }
        return JSONEscapes.decode(Array(inside)[...])
    }

    /// Whether the inside of a string, `range` without its quotes, spells `text`; allocates only to decode escapes.
    package static func spells(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let base = bytes.baseAddress else { return text.isEmpty }
        // What has an escape is longer than what it spells.
        guard range.count >= text.count else { return false }
        if range.count == text.count, let text = text.baseAddress,
            memcmp(base + range.lowerBound, text, range.count) != 0
        {
            return false
        }
        if memchr(base + range.lowerBound, 0x5C, range.count) != nil {
            return JSONEscapes.decode(Array(bytes[range])[...]).utf8.elementsEqual(text)
        }
        return range.count == text.count
    }
}

/// Skipping over text that has been validated.
extension JSONScanner {
    mutating func skipCheckedValue() { skipChecked { $0.skipValue() } }

    /// Starts at the opening quote; ends after the closing one.
    mutating func skipCheckedString() { skipChecked { $0.skipString() } }

    private mutating func skipChecked(_ skip: (inout CheckedScanner) -> Void) {
        var scanner = CheckedScanner(bytes, at: at)
        skip(&scanner)
        at = scanner.at
    }
}

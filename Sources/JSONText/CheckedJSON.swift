internal import Glibc

/// Finding the way in text that was checked before.
package enum CheckedJSON {
    /// The place behind the quote that closes the string whose opening one stands at `start`: the first that has no odd
    /// number of backslashes before it. The end of the text where there is none.
    package static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        var at = start + 1
        while at < bytes.count, let quote = memchr(base + at, 0x22, bytes.count - at) {
            let end = base.distance(to: quote.assumingMemoryBound(to: UInt8.self))
            var escape = end
            while escape > at, bytes[escape - 1] == UInt8(ascii: "\\") { escape -= 1 }
            at = end + 1
            if (end - escape).isMultiple(of: 2) { return at }
        }
        return bytes.count
    }
}

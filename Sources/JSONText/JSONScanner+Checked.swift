internal import Glibc

/// Moving over text that was checked before.
extension JSONScanner {
    mutating func skipCheckedValue() {
        switch current {
        case UInt8(ascii: "\""): skipCheckedString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipCheckedNested()
        default: skipCheckedWord()
        }
    }

    /// Stands on the opening quote; ends behind the closing one, the first that has no odd number of backslashes before it.
    mutating func skipCheckedString() {
        at += 1
        guard let base = bytes.baseAddress else { return }
        let start = at
        while at < bytes.count, let quote = memchr(base + at, 0x22, bytes.count - at) {
            let end = base.distance(to: quote.assumingMemoryBound(to: UInt8.self))
            var escape = end
            while escape > start, bytes[escape - 1] == UInt8(ascii: "\\") { escape -= 1 }
            at = end + 1
            if (end - escape).isMultiple(of: 2) { return }
        }
        at = bytes.count
    }

    private mutating func skipCheckedNested() {
        var depth = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                skipCheckedString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case 0...0x20: hasSkippedSpace = true
            default: break
            }
            at += 1
            if depth == 0 { return }
        }
    }

    private mutating func skipCheckedWord() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: return
            default: at += 1
            }
        }
    }
}

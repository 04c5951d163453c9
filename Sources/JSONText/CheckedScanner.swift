/// Walks over JSON that has been validated: it only looks for where members and values begin and end.
///
/// A type of its own, because what `JSONScanner` needs to check a text would be copied and released for each walk, and a walk over
/// a record is short.
struct CheckedScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var at: Int
    /// Whether it skipped space between the parts of a value.
    private(set) var hasSkippedSpace = false

    init(_ bytes: UnsafeBufferPointer<UInt8>, at: Int = 0) {
        self.bytes = bytes
        self.at = at
    }

    /// The byte at the cursor; 0, which is never valid outside a string, at the end.
    var current: UInt8 { at < bytes.count ? bytes[at] : 0 }

    mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x0A, 0x0D, 0x09:
                at += 1
                hasSkippedSpace = true
            default: return
            }
        }
    }

    /// The next member of an object, from anywhere between its parts: the range of its name without quotes and that of its
    /// value; nil at the end of the object.
    mutating func nextMember() -> (name: Range<Int>, value: Range<Int>)? {
        while true {
            skipSpace()
            switch current {
            case UInt8(ascii: ","): at += 1
            case UInt8(ascii: "\""):
                let start = at + 1
                skipString()
                let name = start..<max(start, at - 1)
                skipSpace()
                if current == UInt8(ascii: ":") { at += 1 }
                skipSpace()
                let value = at
                skipValue()
                return (name, value..<at)
            default: return nil
            }
        }
    }

    mutating func skipValue() {
        switch current {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipNested()
        default: skipWord()
        }
    }

    /// Starts at the opening quote; ends after the closing one.
    mutating func skipString() { at = CheckedJSON.endOfString(bytes, from: at) }

    private mutating func skipNested() {
        var depth = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                skipString()
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

    private mutating func skipWord() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: return
            default: at += 1
            }
        }
    }
}

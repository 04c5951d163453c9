/// Moving over text that was checked before.
extension JSONScanner {
    mutating func skipCheckedValue() {
        switch current {
        case UInt8(ascii: "\""): skipCheckedString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipCheckedNested()
        default: skipCheckedWord()
        }
    }

    /// Stands on the opening quote; ends behind the closing one.
    mutating func skipCheckedString() { at = CheckedJSON.endOfString(bytes, from: at) }

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

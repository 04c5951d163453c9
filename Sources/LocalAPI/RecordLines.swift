package import JSONText

/// Formats records as newline-delimited JSON: one on each line, unchanged.
package enum RecordLines {
    /// JSON has line breaks only between tokens, where a space is equivalent.
    package static func append(_ record: JSONText, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += record.bytes
        for index in start..<bytes.count where bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
        bytes.append(0x0A)
    }
}

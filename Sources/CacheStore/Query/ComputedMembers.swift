internal import Glibc
internal import JSONText

/// Adds the members that are computed on reading to a document, which has one of them only if the server sends it.
struct ComputedMembers {
    /// What `RecordSelect` makes of their columns: each is `"name":value` after a separator.
    let bytes: UnsafeBufferPointer<UInt8>

    /// `document`: text of SQLite, which ends with a NUL.
    func laid(over document: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(document.count + bytes.count)
        result += document
        for member in bytes.split(separator: RecordSelect.separator) {
            guard let nameEnd = member.firstIndex(of: UInt8(ascii: ":")), let start = document.baseAddress else {
                continue
            }
            let name = String(decoding: member[..<nameEnd], as: UTF8.self)
            if strstr(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), name) != nil {
                result = Self.adding(name, Array(member[(nameEnd + 1)...]), to: result)
            } else {
                result[result.count - 1] = UInt8(ascii: ",")
                result += member
                result.append(UInt8(ascii: "}"))
            }
        }
        return result
    }

    /// The name may be that of a member in an inner object. The record's own one counts, unless it is null.
    private static func adding(_ quotedName: String, _ value: [UInt8], to record: [UInt8]) -> [UInt8] {
        let json = JSONText(validated: record)
        let name = String(quotedName.dropFirst().dropLast())
        if let own = json[name], own.kind != .null { return record }
        return Array(json.setting(name, to: JSONText(validated: value)).bytes)
    }
}

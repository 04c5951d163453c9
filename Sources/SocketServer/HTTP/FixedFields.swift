/// Header fields that many answers have in common, written once for all of them.
///
/// A class, because each step on the way of an answer would copy a structure.
package final class FixedFields: Sendable {
    package let fields: [(name: String, value: String)]
    /// As a head has them; nil if one of them is not valid HTTP.
    let bytes: [UInt8]?

    package init(_ fields: [(name: String, value: String)]) {
        self.fields = fields
        bytes = HeadBytes.bytes(capacity: HeadBytes.capacity(for: fields)) { $0.append(fields) }
    }
}

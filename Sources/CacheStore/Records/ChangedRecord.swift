internal import JSONText

/// A record as a local change left it, whose queued changes were all made by that.
struct ChangedRecord {
    var entity: String
    var pk: Int64
    /// The key by which the caller named it: its own or a former one.
    var name: String
    /// What readers see of it.
    var document: JSONText
    /// The fields that wait to be sent.
    var pending: [String]
}

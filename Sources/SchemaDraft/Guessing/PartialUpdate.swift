/// Tells a PUT that changes only what it names from one that replaces the record, by what the document says.
enum PartialUpdate {
    /// Members that say which version of a record is changed, without which an update may be refused.
    static let versions: Set = ["version", "lockversion", "rowversion", "synctoken", "etag", "revision"]

    /// Whether an update may leave out what no field sends.
    static func isOne(_ operation: APIOperation, _ found: BodyGuess.Found, key: String) -> Bool {
        let own = found.fields?.first { $0.name == key }?.wireName
        guard operation.method == "PUT", found.required.subtracting([own].compactMap(\.self)).isEmpty,
            found.fields?.contains(where: { versions.contains(Words.folded($0.wireName)) }) != true
        else { return false }
        return isSaid(in: operation.words.lowercased())
    }

    /// Whether a text says that an update leaves what it does not name. What one field does when it is left out says nothing about
    /// the others.
    static func isSaid(in text: String) -> Bool {
        // "Any unspecified fields will remain unchanged."
        let left = /(unspecified|omitted) (fields|attributes|properties|parameters)[^.]{0,40}(unchanged|untouched)/
        // "Only the fields provided will be updated."
        let given = /only (the )?(fields|attributes|properties|parameters) (you )?(provide|specif|sen[dt]|include|pass)/
        // "Fields that are not sent stay unchanged."
        let missing = /(fields|attributes|properties|parameters) (that are )?(not [a-z]+|omitted)[^.]{0,40}unchanged/
        // "This call supports partial updates."
        let named = /supports (partial|sparse) updates?/
        let isGiven = text.firstMatch(of: given).map { match in
            text[match.range.upperBound...].prefix { $0 != "." }.contains(/(updat|chang|modifi)ed/)
        }
        return isGiven == true || text.contains(left) || text.contains(missing) || text.contains(named)
    }
}

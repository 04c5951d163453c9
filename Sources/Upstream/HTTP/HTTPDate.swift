package import EntitySchema

extension Timestamp {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), the only form that a sender may use. Nil for anything else.
    package init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}

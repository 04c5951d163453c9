extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// From the first day of 1970 on.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), the only form that a sender may use. Nil for anything else.
    package init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = Self.months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    /// The time in that form, without what is less than a second.
    package var httpDate: String {
        let iso = description
        let day = milliseconds.flooredQuotient(86_400_000)
        let weekday = Self.weekdays[Int(day - 7 * day.flooredQuotient(7))]
        let month = Self.months[(Int(iso.dropFirst(5).prefix(2)) ?? 1) - 1]
        return "\(weekday), \(iso.dropFirst(8).prefix(2)) \(month) \(iso.prefix(4)) \(iso.dropFirst(11).prefix(8)) GMT"
    }
}

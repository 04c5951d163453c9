import Glibc
import Synchronization

/// The `Date` of answers (RFC 9110, 6.6.1), rendered once a second.
final class HTTPDate: Sendable {
    private let latest = Mutex<(second: Int, text: [UInt8])>((-1, []))

    /// Now, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    func now() -> [UInt8] {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return latest.withLock { latest in
            if latest.second != time.tv_sec { latest = (time.tv_sec, Self.text(second: time.tv_sec)) }
            return latest.text
        }
    }

    static func text(second: Int) -> [UInt8] {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        return [UInt8](
            "\(day) \(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT".utf8)
    }
}

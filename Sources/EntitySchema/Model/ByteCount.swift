/// A size in bytes as written in a schema: a whole number and `B`, `KiB`, `MiB` or `GiB`.
package struct ByteCount: Sendable, Equatable {
    package var bytes: Int

    /// Nil for anything else, and for a number that overflows.
    package init?(text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits),
            let shift = ["B": 0, "KiB": 10, "MiB": 20, "GiB": 30][text.dropFirst(digits.count)],
            number <= Int.max >> shift
        else { return nil }
        bytes = number << shift
    }
}

extension Duration {
    /// Reads `500ms`, `30s`, `15m`, `24h` or `7d`: a whole number and a unit, nothing else.
    package init?(text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count <= 1_000_000_000 else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": self = .milliseconds(count)
        case "s": self = .seconds(count)
        case "m": self = .seconds(count * 60)
        case "h": self = .seconds(count * 3600)
        case "d": self = .seconds(count * 86_400)
        default: return nil
        }
    }

    /// Twice as long `times` times over, but at most `longest`: a wait that grows with each failure. No number overflows.
    package func doubled(_ times: Int, atMost longest: Duration) -> Duration {
        min(self * (1 << min(max(times, 0), 30)), longest)
    }

    /// Whole milliseconds, rounded towards zero; the most that 64 bits hold if there are more.
    package var milliseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return components.seconds < 0 ? .min : .max }
        return whole.clampedSum(components.attoseconds / 1_000_000_000_000_000)
    }
}

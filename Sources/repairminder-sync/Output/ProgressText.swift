import JSONText

/// The progress of long work as one line: `[##########          ] 52 %  orders 62,400 of 120,000  3,400/s  17 s left`.
struct ProgressText: Equatable {
    /// What is counted.
    enum Unit: Equatable {
        /// Nothing that people want to see: a share of the whole.
        case share
        /// Things with this name, such as `rows`.
        case things(String)
        case bytes
    }

    private static let barWidth = 20
    /// Before that, a rate is only noise.
    private static let steadyAfter = Duration.seconds(1)
    /// In seconds.
    private static let longest = 1e9

    var label: String
    var unit = Unit.share

    /// `total` nil if it is not known. `elapsed` since `begun` were done.
    func line(done: Int, total: Int?, begun: Int = 0, elapsed: Duration) -> String {
        var parts: [String] = []
        if let total, total > 0 {
            let share = max(0, min(Double(done) / Double(total), 1))
            parts.append(Self.bar(share, width: Self.barWidth))
        }
        parts.append(TerminalText.line(label) + count(done, total))
        guard elapsed >= Self.steadyAfter, done > begun else { return parts.joined(separator: "  ") }
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let rate = Double(done - begun) / seconds
        if let speed = speed(rate) { parts.append(speed) }
        if let total, done < total {
            // A total is what the daemon says, and may be impossible.
            let left = min(Double(total - done) / rate, Self.longest)
            parts.append("\(Self.time(Int(left) + 1)) left")
        }
        return parts.joined(separator: "  ")
    }

    /// `[##########          ] 52 %`. `share` is from 0 to 1.
    static func bar(_ share: Double, width: Int) -> String {
        let filled = String(repeating: "#", count: Int(share * Double(width)))
        return "[\(filled.padding(to: width))] \(Int(share * 100)) %"
    }

    // MARK: Numbers

    private func count(_ done: Int, _ total: Int?) -> String {
        switch unit {
        case .share: return ""
        case .things(let name):
            return " \(Self.grouped(done))" + (total.map { " of \(Self.grouped($0))" } ?? "") + " \(name)"
        case .bytes:
            let scale = Self.scale(of: total ?? done)
            let whole = total.map { " of \(Self.grouped($0 >> scale.shift))" } ?? ""
            return " \(Self.grouped(done >> scale.shift))\(whole) \(scale.name)"
        }
    }

    private func speed(_ rate: Double) -> String? {
        switch unit {
        case .share: return nil
        case .things: return "\(Self.grouped(Int(rate)))/s"
        case .bytes:
            let scale = Self.scale(of: Int(rate))
            return "\(Self.grouped(Int(rate) >> scale.shift)) \(scale.name)/s"
        }
    }

    /// The unit in which a size has two digits at least.
    private static func scale(of bytes: Int) -> (shift: Int, name: String) {
        bytes < 10 << 20 ? (10, "KiB") : (20, "MiB")
    }

    /// `62,400`.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.enumerated().map { index, digit in
            let isStart = index > 0 && (digits.count - index).isMultiple(of: 3)
            return isStart ? ",\(digit)" : String(digit)
        }.joined()
    }

    private static func time(_ seconds: Int) -> String {
        switch seconds {
        case ..<90: "\(seconds) s"
        case ..<5400: "\((seconds + 30) / 60) min"
        default: "\((seconds + 1800) / 3600) h"
        }
    }

    /// What a status says of the work under way, from 0 to 1. A text such as `nan`, of a compromised daemon, is none.
    static func share(of status: JSONText) -> Double? {
        status["progress"].flatMap { $0.kind == .number ? Double($0.text) : nil }.map { min(max($0, 0), 1) }
    }
}

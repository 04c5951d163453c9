/// The progress of long work as one line: `[##########          ] 52 %  orders 62,400 of 120,000  3,400/s  17 s left`.
struct ProgressText {
    private static let barWidth = 20
    /// Before that, a rate is only noise.
    private static let settled = Duration.seconds(1)

    var label: String
    /// What is counted; empty for a share of the whole.
    var unit = ""

    /// `total` nil if it is not known. `elapsed` since the work began.
    func line(done: Int, total: Int?, elapsed: Duration) -> String {
        var parts: [String] = []
        if let total, total > 0 {
            let share = min(Double(done) / Double(total), 1)
            let filled = Int(share * Double(Self.barWidth))
            let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: Self.barWidth - filled)
            parts.append("[\(bar)] \(Int(share * 100)) %")
        }
        let count =
            unit.isEmpty ? "" : " \(Self.grouped(done))" + (total.map { " of \(Self.grouped($0))" } ?? "") + " \(unit)"
        parts.append(TerminalText.line(label) + count)
        guard elapsed >= Self.settled, done > 0 else { return parts.joined(separator: "  ") }
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let rate = Double(done) / seconds
        if !unit.isEmpty { parts.append("\(Self.grouped(Int(rate)))/s") }
        if let total, done < total { parts.append("\(Self.time(Int(Double(total - done) / rate) + 1)) left") }
        return parts.joined(separator: "  ")
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
}

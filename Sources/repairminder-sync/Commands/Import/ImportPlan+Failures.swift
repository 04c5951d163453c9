extension ImportPlan {
    /// The rows that failed, with one line for each reason, such as `lines 2-501, 503: no clients can be created`. Empty if
    /// none failed.
    var failureText: String {
        var lines: [String: [Int]] = [:]
        var reasons: [String] = []
        for failure in failures.sorted(by: { $0.line < $1.line }) {
            if lines[failure.message] == nil { reasons.append(failure.message) }
            lines[failure.message, default: []].append(failure.line)
        }
        return reasons.map { "\(Self.places(lines[$0] ?? [])): \($0)\n" }.joined()
    }

    /// `lines` in ascending order as text: `line 3`, or `lines 3, 5-9`.
    private static func places(_ lines: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for line in lines {
            if let last = ranges.last, last.upperBound == line - 1 {
                ranges[ranges.endIndex - 1] = last.lowerBound...line
            } else {
                ranges.append(line...line)
            }
        }
        let texts = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return (lines.count == 1 ? "line " : "lines ") + texts.joined(separator: ", ")
    }
}

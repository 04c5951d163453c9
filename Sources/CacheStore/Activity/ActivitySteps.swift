package import EntitySchema

/// The history in steps of the same length, as charts show it.
package struct ActivitySteps: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        /// The most at the end of any of its minutes.
        package var pending: Int
        package var failed: Int
        package var work = ActivityWork()

        package init(pending: Int, failed: Int, work: ActivityWork = ActivityWork()) {
            self.pending = pending
            self.failed = failed
            self.work = work
        }
    }

    /// In minutes.
    package let length: Int64
    /// Oldest first; nil for a step in which the daemon did not run.
    package private(set) var steps: [Step?]
    /// The number of the first step since 1970.
    private let first: Int64

    package var start: Timestamp { Timestamp(minute: first * length) }

    /// The last `count` steps of `length` minutes, up to the one of the minute `last`. `minutes` are the history, oldest
    /// first.
    ///
    /// A minute that the history leaves out was as the one before at its end, and nothing happened in it.
    init(_ minutes: [ActivityMinute], length: Int64, count: Int, through last: Int64) {
        self.length = length
        first = last / length - Int64(count) + 1
        steps = Array(repeating: nil, count: count)
        for (index, minute) in minutes.enumerated() where minute.number <= last {
            merge(Step(pending: minute.pending, failed: minute.failed, work: minute.work), into: minute.number / length)
            let next = index + 1 < minutes.count ? minutes[index + 1] : nil
            guard next?.isStart != true else { continue }
            let end = min(next.map { $0.number - 1 } ?? last, last)
            carry(Step(pending: minute.pending, failed: minute.failed), from: minute.number + 1, through: end)
        }
    }

    private mutating func carry(_ step: Step, from minute: Int64, through last: Int64) {
        let start = max(minute, first * length)
        guard start <= last else { return }
        for number in start / length...last / length { merge(step, into: number) }
    }

    private mutating func merge(_ step: Step, into number: Int64) {
        let index = Int(number - first)
        guard steps.indices.contains(index) else { return }
        guard var sum = steps[index] else { return steps[index] = step }
        sum.pending = max(sum.pending, step.pending)
        sum.failed = max(sum.failed, step.failed)
        sum.work += step.work
        steps[index] = sum
    }
}

extension Timestamp {
    /// The start of a minute, counted since 1970.
    package init(minute: Int64) { self.init(milliseconds: minute * 60_000) }

    /// The minute that it is in, counted since 1970.
    package var minute: Int64 { milliseconds / 60_000 }
}

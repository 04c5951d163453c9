internal import Synchronization

/// One series for each set of labels that has come up. The caller sees to it that there can only be few.
final class LabelledSeries<Labels: Hashable & Comparable & Sendable, Series: Sendable>: Sendable {
    private let series = Mutex<[Labels: Series]>([:])
    private let make: @Sendable () -> Series

    init(_ make: @escaping @Sendable () -> Series) {
        self.make = make
    }

    /// Locks for the look into a table alone; what is recorded goes into the series without a lock.
    subscript(labels: Labels) -> Series {
        series.withLock { series in
            if let known = series[labels] { return known }
            let new = make()
            series[labels] = new
            return new
        }
    }

    /// In the order of their labels.
    var all: [(labels: Labels, series: Series)] {
        series.withLock { Array($0) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

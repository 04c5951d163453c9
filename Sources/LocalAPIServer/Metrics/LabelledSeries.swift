internal import Synchronization

/// One series for each set of labels in use. The caller keeps their number small.
final class LabelledSeries<Labels: Hashable & Comparable & Sendable, Series: Sendable>: Sendable {
    private let series = Mutex<[Labels: Series]>([:])
    private let make: @Sendable () -> Series

    init(_ make: @escaping @Sendable () -> Series) {
        self.make = make
    }

    /// Locks only for the lookup; recording into the series takes no lock.
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

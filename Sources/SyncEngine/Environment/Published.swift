internal import Synchronization

/// The last value of something that one part owns, and that others read at any time, without a turn of the part.
///
/// Two that change in one step are set one after the other: a reader may see the first without the second.
package final class Published<Value: Sendable>: Sendable {
    private let kept: Mutex<Value>

    package init(_ value: Value) { kept = Mutex(value) }

    package var value: Value {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
